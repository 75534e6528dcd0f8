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
        *("elementid", "id", "isempty", "length", "size", "type"),
        *("toboolean", "tofloat", "tofloatornull", "tointeger", "tointegerornull"),
    }
)
# In small letters, as the server knows no other. Each takes, whatever it is given, no longer than
# it takes to read that, and gives no more; `point` alone counts a longitude of 1e308 down by 360.
FUNCTIONS = frozenset(
    {
        *AGGREGATIONS,
        *SCALAR,
        # of the graph
        *("coalesce", "endnode", "exists", "keys", "labels", "nodes", "nullif", "properties"),
        *("relationships", "startnode"),
        # of lists
        *("head", "last", "range", "reverse", "tail"),
        # of texts
        *("left", "lower", "ltrim", "replace", "right", "rtrim", "split", "substring", "tolower"),
        *("tostring", "tostringornull", "toupper", "trim", "upper"),
        # of numbers
        *("abs", "ceil", "exp", "floor", "log", "pi", "round", "sign", "sqrt"),
        # of times
        *("date", "date.truncate", "datetime", "duration", "duration.between", "duration.indays"),
        # of vectors
        "vector.similarity.cosine",
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
