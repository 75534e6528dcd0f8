// The labels that other programs use, too: our nodes do without those on which another has a
// constraint, which could refuse ours, or the other's for the sake of ours.

// name: constraints
SHOW CONSTRAINTS YIELD name, entityType, labelsOrTypes WHERE entityType = 'NODE'
RETURN name, labelsOrTypes AS labels;

// name: hidden_labels
// And whether nodes are left that are not labelled so yet.
MATCH (k:KgragKnowledgeBase {id: 'kgrag'})
RETURN coalesce(k.hidden, []) AS hidden, coalesce(k.relabelling, false) AS relabelling;

// name: relabel_some
MATCH (n:KgragDocument|KgragChunk|KgragSummary|KgragEntity|KgragTarget|KgragDuty|KgragOrgan
  |KgragRegion)
WITH n, CASE WHEN n:KgragDocument THEN 'Document' WHEN n:KgragChunk THEN 'Chunk'
  WHEN n:KgragSummary THEN 'Summary' WHEN n:KgragTarget THEN 'Target' WHEN n:KgragDuty THEN 'Duty'
  WHEN n:KgragOrgan THEN 'Organ' WHEN n:KgragRegion THEN 'Region' ELSE 'Entity' END AS label
WITH n, label, label IN $hidden AS hidden WHERE label IN labels(n) = hidden
WITH n, label, hidden LIMIT $limit
REMOVE n:$(CASE WHEN hidden THEN [label] ELSE [] END)
SET n:$(CASE WHEN hidden THEN [] ELSE [label] END)
RETURN count(*) AS n;
