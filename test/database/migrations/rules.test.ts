import { describe, expect, it } from 'vitest'
import { listMigrations } from '../../../src/database/migrations/files.js'
import { findHarm } from './rules.js'

describe('every migration', () => {
  it('keeps nobody waiting and nothing from the version before', async () => {
    const migrations = await listMigrations()
    expect(migrations.length).toBeGreaterThan(0)
    for (const migration of migrations)
      expect({ [migration.name]: await findHarm(migration) }).toEqual({ [migration.name]: [] })
  })
})

describe('the rules', () => {
  const expand = { isTransaction: true, contractAfter: null }
  const contract = { isTransaction: true, contractAfter: '1.0' }
  const alone = { isTransaction: false, contractAfter: null }

  it.each([
    ['CREATE TABLE t (a int); CREATE INDEX ON t (a); INSERT INTO t VALUES (1); ALTER TABLE t ADD UNIQUE (a)', expand],
    ['ALTER TABLE messages ADD COLUMN a jsonb', expand],
    [`ALTER TABLE messages ADD COLUMN a text NOT NULL DEFAULT 'x', ADD COLUMN b text[] DEFAULT '{}'::text[]`, expand],
    ['ALTER TABLE messages ADD CONSTRAINT c CHECK (a > 0) NOT VALID', expand],
    ['ALTER TABLE messages VALIDATE CONSTRAINT c', alone],
    ['CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON messages (a)', alone],
    ['CREATE OR REPLACE VIEW v AS SELECT 1 AS one', expand],
    ['CREATE SEQUENCE s; CREATE TABLE t (a int); ALTER SEQUENCE s OWNED BY t.a', expand],
    ['ALTER TABLE messages DROP COLUMN a; DROP TABLE t', contract],
  ])('permit %s', async (text, kind) => {
    expect(await findHarm({ text, ...kind })).toEqual([])
  })

  it.each([
    ['CREATE INDEX i ON messages (a)', expand],
    ['CREATE INDEX CONCURRENTLY i ON messages (a)', expand],
    ['ALTER TABLE messages ADD COLUMN a uuid DEFAULT gen_random_uuid()', expand],
    ['ALTER TABLE messages ADD COLUMN a int NOT NULL', expand],
    ['ALTER TABLE messages ADD COLUMN a int REFERENCES t', expand],
    ['ALTER TABLE messages ADD COLUMN a int GENERATED ALWAYS AS (b + 1) STORED', expand],
    ['ALTER TABLE messages ADD CONSTRAINT c CHECK (a > 0)', expand],
    ['ALTER TABLE messages ADD UNIQUE (a)', expand],
    ['ALTER TABLE messages VALIDATE CONSTRAINT c', expand],
    ['ALTER TABLE messages ALTER COLUMN a TYPE bigint', contract],
    ['ALTER TABLE messages ALTER COLUMN a SET NOT NULL', contract],
    ['ALTER TABLE messages DROP COLUMN a', expand],
    ['DROP TABLE t', expand],
    ['DROP INDEX i', contract],
    ['UPDATE messages SET a = 1', contract],
    ['INSERT INTO messages SELECT * FROM t', expand],
    ['DELETE FROM messages', contract],
    ['ALTER TABLE messages RENAME TO m', contract],
    ['ALTER SEQUENCE events_seq RESTART', expand],
    ['LOCK TABLE messages', expand],
    ['DO $$ BEGIN END $$', expand],
    ['VACUUM FULL messages', alone],
  ])('refuse %s', async (text, kind) => {
    expect(await findHarm({ text, ...kind })).toHaveLength(1)
  })
})
