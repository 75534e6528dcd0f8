// What is still done of a statement of others, and how it is ended.

// name: under_way
// Its transactions, by the mark that they were given.
SHOW TRANSACTIONS YIELD transactionId, metaData WHERE metaData.kgrag = $mark
RETURN transactionId AS id;

// name: terminate
TERMINATE TRANSACTIONS $ids;
