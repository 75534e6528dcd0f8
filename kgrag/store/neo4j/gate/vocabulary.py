"""The words of Cypher that others may use: clauses, functions, procedures; the rest is refused."""

FIRST = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL")
# They read, and no more than a query could: names in use, and the nodes that an index finds. Left
# out are dbms.*, db.stats.* (the server's, not the graph's), db.schema.*Properties (reads every
# node), db.awaitIndexes, db.resampleIndex (make the server work), and what writes.
PROCEDURES = frozenset(
    {
        "db.index.fulltext.queryNodes",
        "db.index.vector.queryNodes",
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.visualization",
    }
)
AGGREGATIONS = frozenset(
    {
        *("avg", "collect", "count", "max", "min", "percentilecont", "percentiledisc"),
        *("stdev", "stdevp", "sum"),
    }
)
# Of a list or a text they give something small.
SCALAR = frozenset(
    {
        *("avg", "count", "percentilecont", "percentiledisc", "stdev", "stdevp", "sum"),
        *("char_length", "character_length", "elementid", "id", "isempty", "length", "size"),
        *("toboolean", "tobooleanornull", "tofloat", "tofloatornull", "tointeger"),
        *("tointegerornull", "type", "valuetype"),
    }
)
_CLOCKS = ("date", "datetime", "localdatetime", "localtime", "time")
# In small letters, as the server knows no other.
FUNCTIONS = frozenset(
    {
        *AGGREGATIONS,
        *SCALAR,
        # of the graph
        *("coalesce", "endnode", "exists", "keys", "labels", "nodes", "nullif", "properties"),
        *("relationships", "startnode"),
        # of lists
        *("head", "last", "range", "reverse", "tail", "tobooleanlist", "tofloatlist"),
        *("tointegerlist", "tostringlist"),
        # of texts
        *("btrim", "left", "lower", "ltrim", "normalize", "replace", "right", "rtrim", "split"),
        *("substring", "tolower", "tostring", "tostringornull", "toupper", "trim", "upper"),
        # of numbers
        *("abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cot", "degrees", "e", "exp"),
        *("floor", "haversin", "isnan", "log", "log10", "pi", "radians", "rand", "round", "sign"),
        *("sin", "sqrt", "tan"),
        # of times and places
        *("duration", "point", "timestamp", *_CLOCKS),
        *(
            f"{c}.{f}"
            for c in _CLOCKS
            for f in ("realtime", "statement", "transaction", "truncate")
        ),
        *("datetime.fromepoch", "datetime.fromepochmillis"),
        *("duration.between", "duration.indays", "duration.inmonths", "duration.inseconds"),
        *("point.distance", "point.withinbbox"),
        # of vectors
        *("vector.similarity.cosine", "vector.similarity.euclidean"),
    }
)
# Words that cannot name a variable unless they stand in backticks. After '.' and ':' and before
# the ':' of a map any word is a name: it reaches the server in backticks.
RESERVED = frozenset(
    {
        *(*FIRST, "WHERE", "ORDER", "SKIP", "OFFSET", "LIMIT", "UNION", "YIELD", "AS", "DISTINCT"),
        *("AND", "OR", "XOR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE", "CASE", "WHEN"),
        *("THEN", "ELSE", "CONTAINS", "NAN", "INF", "INFINITY", "ASC", "ASCENDING", "DESC"),
        *("DESCENDING", "SHORTEST"),
        *("CREATE", "INSERT", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH"),
        *("DROP", "ALTER", "RENAME", "GRANT", "DENY", "REVOKE", "LOAD", "SHOW", "TERMINATE"),
        *("USE", "USING", "CYPHER", "EXPLAIN", "PROFILE", "FINISH", "FILTER", "LET"),
    }
)
