// A whole knowledge base goes.

// name: delete_some_nodes
// All but the knowledge base's own, which goes last.
MATCH (n:KgragDocument|KgragDocumentLayout|KgragSource|KgragChunk|KgragSummary|KgragEntity
  |KgragEmbedding|KgragFactVector|KgragTerms|KgragStagedDocument|KgragStagedEmbedding|KgragSetting|KgragCorrection
  |KgragDecision|KgragTarget|KgragDuty|KgragOrgan|KgragRegion)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS n;

// name: delete_base
MATCH (k:KgragKnowledgeBase {id: 'kgrag'}) DETACH DELETE k;
