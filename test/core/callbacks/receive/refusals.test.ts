import { describe, expect, it } from 'vitest'
import { noteRefusals } from '../../../../src/core/callbacks/receive/refusals.js'
import type { NamedClaim } from '../../../../src/core/callbacks/receive/signature.js'
import { createLogger } from '../../../../src/log.js'

const claimOf = (organizationId: string): NamedClaim => ({
  claim: { organizationId, instanceId: null, appSecret: Buffer.from('encrypted'), isSuspended: false },
  changes: 1,
})
const nobody: NamedClaim = { claim: null, changes: 1 }

function start() {
  const lines: { organizationId: string; id: string; refused: number; level: number }[] = []
  const counted: boolean[] = []
  const told: string[] = []
  let now = 0
  const log = createLogger('info', { write: (line) => lines.push(JSON.parse(line)) })
  const note = noteRefusals(
    log,
    (isKnown) => counted.push(isKnown),
    (organizationId) => told.push(organizationId),
    () => now,
  )
  const pass = (seconds: number) => {
    now += seconds * 1_000
  }
  return { note, lines, counted, told, pass }
}

describe('refused callbacks', () => {
  it('of a known number are logged once a minute, with how many there were', () => {
    const { note, lines, pass } = start()
    for (let n = 0; n < 120; n++) {
      note(new Map([['number 1', claimOf('a')]]))
      pass(1)
    }
    expect(lines.map(({ organizationId, id, refused, level }) => ({ organizationId, id, refused, level }))).toEqual([
      { organizationId: 'a', id: 'number 1', refused: 1, level: 40 },
      { organizationId: 'a', id: 'number 1', refused: 60, level: 40 },
    ])
  })

  it('of other numbers have lines of their own', () => {
    const { note, lines, told } = start()
    note(new Map([['number 1', claimOf('a')]]))
    note(new Map([['number 2', claimOf('b')]]))
    note(new Map([['number 1', claimOf('a')]]))
    expect(lines.map(({ organizationId }) => organizationId)).toEqual(['a', 'b'])
    expect(told).toEqual(['a', 'b'])
  })

  it('of numbers that nobody has are only counted', () => {
    const { note, lines, counted } = start()
    note(new Map([['number 9', nobody]]))
    note(new Map())
    note(new Map([['number 1', claimOf('a')]]))
    expect(counted).toEqual([false, false, true])
    expect(lines.length).toBe(1)
  })
})
