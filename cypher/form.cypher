// Fragments of which kgrag.store.graph_query makes the statement of a form. Places <…> are filled
// with names of its closed tables, with parameters, and with other fragments; with nothing else.

// name: form_start
MATCH (<n>:<type>);

// name: form_start_organ
// Those that have duties: who only issues documents is a field of these.
MATCH (<n>:<type>) WHERE EXISTS { (<n>)<-[:ASSIGNED_TO]-(:KgragDuty) }
WITH <n>;

// name: form_out
MATCH (<a>)-[<e>:<relation>]->(<b>:<type>);

// name: form_in
MATCH (<a>)<-[<e>:<relation>]-(<b>:<type>);

// name: form_chain
<match>
WHERE <where>
RETURN <columns>, <places> AS places;

// name: form_rows
CALL () {
<chains>
}
WITH <keys>, collect(places) AS places
RETURN <keys>, places
ORDER BY <order>
LIMIT $most;

// name: form_groups
CALL () {
<chains>
}
WITH <group>, collect(places) AS places WHERE measured IS NOT NULL
WITH <keys><aggregate>(measured) AS result_<aggregate>, collect(places) AS places WHERE size(places) > 0
RETURN <keys>result_<aggregate>, places
ORDER BY <order>
LIMIT $most;

// name: form_by
<keys>;

// name: form_always
true;

// name: form_stated
<x> IS NOT NULL;

// name: form_unstated
<x> IS NULL;

// name: form_compared
<x> <op> <value>;

// name: form_contains
<x> CONTAINS <value>;

// name: form_starts
<x> STARTS WITH <value>;

// name: form_ends
<x> ENDS WITH <value>;

// name: form_not
NOT coalesce(<test>, false);

// name: form_one
one;

// name: form_any
any(one IN split(<x>, '、') WHERE <test>);

// name: form_document_title
coalesce(<n>.title, <n>.name);

// name: form_document_held
CASE WHEN <n>:KgragDocument THEN 'yes' ELSE 'no' END;

// name: form_document_year
toInteger(left(coalesce(<n>.issued, <n>.written), 4));

// name: form_document_issuers
reduce(text = head(<n>.issuers), one IN tail(<n>.issuers) | text + '、' + one);

// name: form_document_region
head(<n>.governs);

// name: form_document_regions
reduce(text = head(<n>.governs), one IN tail(<n>.governs) | text + '、' + one);

// name: form_document_status
reduce(text = head(<n>.status), one IN tail(<n>.status) | text + '、' + one);

// name: form_target_level
head(COLLECT { MATCH (<n>)-[:APPLIES_TO]->(one:KgragRegion) RETURN one.level });

// name: form_places
[<list>];

// name: form_places_document
[<n>.id, 0, 0];

// name: form_places_target
[<n>.doc_id, <n>.start, <n>.end];

// name: form_places_duty
[<n>.doc_id, <n>.start, <n>.end];

// name: form_places_names
[startNode(<n>).id, 0, 0];

// name: form_places_organ
COLLECT {
  MATCH (<n>)<-[:ASSIGNED_TO]-(one:KgragDuty) WHERE <where>
  RETURN [one.doc_id, one.start, one.end] ORDER BY one.doc_id, one.start, one.end LIMIT 3 };

// name: form_places_entity
COLLECT {
  MATCH (<n>)<-[:NAMES]-(one:KgragDocument) WHERE <where>
  RETURN [one.id, 0, 0] ORDER BY one.id LIMIT 3 };

// name: form_places_cites
[i IN range(0, size(<n>.starts) - 1) | [startNode(<n>).id, <n>.starts[i], <n>.ends[i]]];

// name: form_places_related
[i IN range(0, size(<n>.starts) - 1) WHERE <where> | [<n>.doc_ids[i], <n>.starts[i], <n>.ends[i]]];

// name: form_some
size(<places>) > 0;

// name: form_within_document
<n>.id IN $within;

// name: form_within_target
<n>.doc_id IN $within;

// name: form_within_duty
<n>.doc_id IN $within;

// name: form_within_cites
startNode(<n>).id IN $within;

// name: form_within_names
startNode(<n>).id IN $within;

// name: form_within_organ
one.doc_id IN $within;

// name: form_within_entity
one.id IN $within;

// name: form_within_related
<n>.doc_ids[i] IN $within;
