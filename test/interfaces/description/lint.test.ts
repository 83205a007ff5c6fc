import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { DESCRIPTIONS } from '../../support/openapi.js'
import { startWorld } from '../../support/world.js'

const run = promisify(execFile)
const redocly = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js')

it('every description passes the recommended rules of redocly lint', async () => {
  const world = await startWorld()
  const folder = await mkdtemp(join(tmpdir(), 'parley-lint-'))
  try {
    const files = await Promise.all(
      DESCRIPTIONS.map(async (path, index) => {
        const { body } = await world.request('GET', path)
        // Keywords of our own checks are no part of a description.
        expect(JSON.stringify(body)).not.toContain('"x-')
        const file = join(folder, `${index}.json`)
        await writeFile(file, JSON.stringify(body))
        return file
      }),
    )
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const args = [redocly, 'lint', '--extends=recommended', '--format=json', ...files]
    const { stdout } = await run(process.execPath, args, { cwd: folder, env, maxBuffer: 2 ** 26 }).catch(
      (error) => error,
    )
    // One JSON object for each file.
    const reports = JSON.parse(`[${stdout.trim().replaceAll(/\}\s*\{\s*"totals"/g, '},{"totals"')}]`)
    for (const { totals, problems } of reports) {
      expect(problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`)).toEqual([])
      expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
    }
    expect(reports).toHaveLength(files.length)
  } finally {
    await rm(folder, { recursive: true })
    await world.close()
  }
})
