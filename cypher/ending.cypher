// What is still done of a statement of others, and how it is ended.

// name: under_way
// Its transactions, by the mark that they were given.
SHOW TRANSACTIONS YIELD transactionId, metaData WHERE metaData.kgrag = $mark
RETURN transactionId AS id;

// name: memory_limit
// What a transaction may take; 0B for all that the server has.
SHOW SETTINGS 'db.memory.transaction.max' YIELD value RETURN value;

// name: terminate
TERMINATE TRANSACTIONS $ids;
