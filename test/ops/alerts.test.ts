import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { run } from '../support/cli.js'
import { hasPrometheus, promtool } from './prometheus.js'

const [rules, tests, runbook, broken] = (await Promise.all(
  ['ops/alerts.yml', 'ops/alerts.test.yml', 'docs/runbook.md', 'docs/when-it-is-broken.md'].map((path) =>
    readFile(path, 'utf8'),
  ),
)) as [string, string, string, string]
const alerts = namesIn(rules, /^ {6}- alert: (\w+)$/gm)

describe('the alerts', () => {
  it('have a section of the runbook each, to which they point, and each section has its alert', () => {
    expect(namesIn(runbook, /^## (Parley\w+)$/gm)).toEqual(alerts)
    const targets = namesIn(rules, /runbook_url: docs\/runbook\.md#(\w+)$/gm)
    expect(targets).toEqual(alerts.map((name) => name.toLowerCase()))
  })

  it('have a test in which they fire, and one in which they do not', () => {
    const outcomes = [...tests.matchAll(/alertname: (\w+)\n +exp_alerts:( \[\])?/g)]
    const of = (quiet: boolean) =>
      outcomes.filter(([, , none]) => (none !== undefined) === quiet).map(([, name]) => name)
    expect(of(false)).toEqual(alerts)
    expect(of(true)).toEqual(alerts)
  })

  it.skipIf(!hasPrometheus)('are understood, and fire when they should', async () => {
    await promtool('check', 'rules', 'ops/alerts.yml')
    await promtool('test', 'rules', 'ops/alerts.test.yml')
  })
})

describe('the runbook and the page before it', () => {
  const commands = new Set(namesIn(runbook + broken, /`parley ([a-z]+(?:[ -][a-z]+)*)/g))

  it.each([...commands])('names a command that exists: parley %s', async (command) => {
    const { code, out } = await run([...command.split(' '), '--help'], {})
    expect(code).toBe(0)
    expect(out).toContain(`Usage: parley ${command} `)
  })
})

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name)
}
