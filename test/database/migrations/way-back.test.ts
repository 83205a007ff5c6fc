import { describe, expect, it } from 'vitest'
import type { Migration } from '../../../src/database/migrations/files.js'
import { findWayBack, type Schema } from '../../../src/database/migrations/state.js'

const EXPAND = migration(1, null)
/** Removes what 1.0 needs. */
const CONTRACT = migration(2, '1.1')

describe('the way back', () => {
  it.each([
    ['leads to the version before', '1.1.3', [EXPAND], '1.0'],
    ['is shut once what the version before needs was removed', '1.1.0', [EXPAND, CONTRACT], null],
    ['stays open for a version that does not need what was removed', '1.2.0', [EXPAND, CONTRACT], '1.1'],
    ['leads nowhere from the first version', '1.0.0', [EXPAND], null],
  ])('%s', (_name, version, applied, expected) => {
    expect(findWayBack(schemaOf(applied), [EXPAND, CONTRACT], version)).toBe(expected)
  })

  it('is shut if a newer version has removed something', () => {
    const newer = [{ version: 3, name: '0003_newer', is_contract: true, applied_at: new Date(0) }]
    expect(findWayBack({ ...schemaOf([EXPAND]), newer }, [EXPAND, CONTRACT], '1.1.0')).toBeNull()
  })
})

function migration(version: number, contractAfter: string | null): Migration {
  return { version, name: `000${version}_sample`, text: '', isTransaction: true, contractAfter }
}

function schemaOf(migrations: Migration[]): Schema {
  const applied = migrations.map(({ version, name, contractAfter }) => {
    return { version, name, is_contract: contractAfter !== null, applied_at: new Date(0) }
  })
  return { state: 'current', applied, missing: [], waiting: [], newer: [] }
}
