CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  text TEXT NOT NULL,
  finish TEXT NOT NULL,
  prompt INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  completion INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  created REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger (
  number INTEGER PRIMARY KEY,
  stage TEXT NOT NULL,
  doc_id TEXT NOT NULL,
  model TEXT NOT NULL,
  schema_name TEXT NOT NULL,
  prompt INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  completion INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  material_chars INTEGER NOT NULL,
  estimated_prompt INTEGER NOT NULL,
  seconds REAL NOT NULL,
  outcome TEXT NOT NULL,
  at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS ledger_kind ON ledger (model, stage, schema_name);
