import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { besideService, run, useFolder } from '../../support/cli.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const folder = useFolder()
const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization

beforeAll(async () => {
  env = { ...besideService(world.database.connection), PARLEY_DATA_DIR: folder.path }
})

beforeEach(async () => {
  organization = await world.createOrganization()
})

const FILE = 'phone_number,opted_out_at,full_name\n5511970003001,2025-01-01,Ana\n5511970003002,2025-02-01,=Eva\n'

function optOuts(args: string[], input?: string) {
  return run(['opt-outs', ...args, '--org', organization.slug], env, input)
}

async function answered(path: string) {
  const headers = { authorization: `Bearer ${organization.key}` }
  return (await fetch(`${world.app.url}${path}`, { headers })).text()
}

describe('opt-outs import', () => {
  it('imports a list, prints the counts and each failed row, and ends with 1 if a row failed', async () => {
    expect(await optOuts(['import', '-'], FILE)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/created +2/),
    })
    const again = await optOuts(['import', '-'], `${FILE}nobody,,\n`)
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('1 of 3 rows failed') })
    expect(again.out).toMatch(/^row 4: Invalid field: .*\n(.*\n)*unchanged +2\n/)
  })

  it('prints the report of the API with --json', async () => {
    const imported = await optOuts(['import', '-', '--json'], FILE)
    expect(imported.json()).toMatchObject({ success: true, results: [{ status: 'created' }, { status: 'created' }] })
  })
})

describe('opt-outs list', () => {
  it('prints a page of them, newest first, as a table or as the API shows them', async () => {
    await optOuts(['import', '-'], FILE)
    const listed = await optOuts(['list', '--json'])
    expect(listed).toMatchObject({ code: 0, err: '' })
    expect(listed.json()).toEqual(JSON.parse(await answered('/opt-outs')).optOuts)
    const [header = '', ...rows] = (await optOuts(['list', '--limit', '1', '--page', '2'])).out.trimEnd().split('\n')
    expect(header.split(/ +/)).toEqual(['contactId', 'chatNumber', 'contactName', 'opted_out_at', 'source', 'words'])
    expect(rows).toEqual([expect.stringMatching(/ 5511970003001 +Ana +2025-01-01T00:00:00.000Z +import +-$/)])
  })

  it('shows nothing of another organization, and reports invalid options', async () => {
    await optOuts(['import', '-'], FILE)
    const other = await world.createOrganization()
    expect(await run(['opt-outs', 'list', '--org', other.slug], env)).toMatchObject({ code: 0, out: '(none)\n' })
    expect(await optOuts(['list', '--limit', 'x'])).toMatchObject({ code: 2, err: expect.stringContaining('--limit') })
    expect(await run(['opt-outs', 'list', '--org', 'nowhere'], env)).toMatchObject({ code: 1, out: '' })
  })
})

describe('opt-outs export', () => {
  it.each(['csv', 'json'])("prints the API's answer: %s", async (format) => {
    await optOuts(['import', '-'], FILE)
    const exported = await optOuts(['export', '--format', format])
    expect(exported).toMatchObject({ code: 0, err: '' })
    expect(exported.out).toBe((await answered(`/opt-outs/export?format=${format}`)).replace(/^\uFEFF/, ''))
  })

  it('writes a file that can be imported', async () => {
    await optOuts(['import', '-'], FILE)
    const file = join(folder.path, 'opt-outs.csv')
    expect(await optOuts(['export', '--output', file])).toMatchObject({ code: 0, out: '', err: '' })
    expect(await readFile(file, 'utf8')).toContain("'=Eva")
    expect((await optOuts(['import', file])).out).toMatch(/unchanged +2/)
  })
})
