import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { besideService, run, useFolder } from '../../support/cli.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const folder = useFolder()
const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization
let number: string
let numbers = 0

beforeAll(async () => {
  env = { ...besideService(world.database.connection), PARLEY_DATA_DIR: folder.path }
})

beforeEach(async () => {
  organization = await world.createOrganization()
  number = `551195${String(5_000 + ++numbers).padStart(7, '0')}`
})

function contacts(args: string[], input?: string) {
  return run(['contacts', ...args, '--org', organization.slug], env, input)
}

async function nameOf(chatId: string) {
  const found = await world.request('GET', `/contact?chat_id=${chatId}`, { key: organization.key })
  return found.body.contact?.full_name
}

describe('contacts import', () => {
  it('imports a file, and prints the counts', async () => {
    const file = join(folder.path, 'contacts.csv')
    await writeFile(file, `phone_number,full_name\n${number},Ana\n`)
    const imported = await contacts(['import', file])
    expect(imported).toMatchObject({ code: 0, err: '' })
    expect(imported.out).toMatch(/^total +1\ncreated +1\nupdated +0\nunchanged +0\nskipped +0\nfailed +0\n$/)
    expect(await nameOf(number)).toBe('Ana')
  })

  it('reads standard input for -, prints each failed row, and ends with 1', async () => {
    const imported = await contacts(['import', '-'], `phone_number,full_name\n12,Ana\n${number},Eva\n,Ida\n`)
    expect(imported).toMatchObject({ code: 1, err: 'parley: 2 of 3 rows failed\n' })
    const [first, second, ...rest] = imported.out.split('\n')
    expect(first).toMatch(/^row 2: Invalid field: phone_number "12" is not a possible/)
    expect(second).toMatch(/^row 4: Missing required field: phone_number/)
    expect(rest.join('\n')).toMatch(/^total +3\ncreated +1\n/)
    expect(await nameOf(number)).toBe('Eva')
  })

  it('reads a file of Excel, names the text that a row failed for, and prints at most 1,000 failed rows', async () => {
    const file = join(folder.path, 'excel.csv')
    const rows = `Nome;Celular;E-mail\r\nJoão;+${number};joao@example.com\r\nRui;+551195;nobody\r\n`
    await writeFile(file, Buffer.from(`sep=;\r\n${rows}${';12;\r\n'.repeat(1_000)}`, 'latin1'))
    const { out, err, code } = await contacts(['import', file])
    expect([code, err]).toEqual([1, 'parley: 1001 of 1002 rows failed\n'])
    const lines = out.split('\n')
    expect(lines[0]).toBe('row 3: Invalid field: email must be an e-mail address: "nobody"')
    expect(lines.slice(999, 1_001)).toEqual([
      expect.stringMatching(/^row 1002: /),
      'and 1 more: --json prints every failed row',
    ])
    expect(await nameOf(number)).toBe('João')
  })

  it("prints the API's answer with --json, and keeps contacts unchanged with --existing skip", async () => {
    await contacts(['import', '-'], `phone_number,full_name\n${number},Ana\n`)
    const csv = `phone_number,full_name\n${number},Eva\n`
    const imported = await contacts(['import', '-', '--existing', 'skip', '--json'], csv)
    expect(imported).toMatchObject({ code: 0, err: '' })
    const { body } = await world.request('POST', '/contacts/import?existing=skip', {
      key: organization.key,
      body: csv,
      headers: { 'content-type': 'text/csv' },
    })
    expect(imported.json()).toEqual(body)
    expect(body.results).toMatchObject([{ row: 2, status: 'skipped' }])
    expect(await nameOf(number)).toBe('Ana')
  })

  it.each([
    [['import', '-', '--existing', 'maybe'], '', 2, /existing/],
    [['import'], '', 2, /missing required argument 'file'/],
    [['import', '/nowhere/contacts.csv'], '', 1, /\/nowhere\/contacts\.csv cannot be read/],
    [['import', '-'], '', 2, /The file is empty/],
    [['import', '-'], 'full_name\nAna\n', 2, /phone_number \(or chat_id\) is required/],
    [['import', '-'], 'phone_number\n"5511', 2, /Row 2 of the file has a quoted cell that does not end/],
  ])('reports %j in one line', async (args, input, code, message) => {
    const refused = await contacts(args, input)
    expect(refused).toMatchObject({ code, out: '' })
    expect(refused.err).toMatch(message)
    expect(refused.err.trimEnd()).not.toContain('\n')
  })

  it('ends with 1 for an unknown organization, and changes no other organization', async () => {
    const imported = await run(['contacts', 'import', '-', '--org', 'nowhere'], env, `phone_number\n${number}\n`)
    expect(imported).toMatchObject({ code: 1, out: '' })
    expect(await nameOf(number)).toBeUndefined()
  })
})

describe('contacts export', () => {
  it.each(['csv', 'json'])("prints the organization's contacts as the API returns them: %s", async (format) => {
    await contacts(['import', '-'], `phone_number,full_name\n${number},Ana\n`)
    const other = await world.createOrganization()
    await world.request('POST', '/contact', { key: other.key, body: { phone_number: number } })
    const exported = await contacts(['export', '--format', format])
    expect(exported).toMatchObject({ code: 0, err: '' })
    const response = await fetch(`${world.app.url}/contacts/export?format=${format}`, {
      headers: { authorization: `Bearer ${organization.key}` },
    })
    expect(exported.out).toBe((await response.text()).replace(/^\uFEFF/, ''))
  })

  it('writes a file that can be imported', async () => {
    await contacts(['import', '-'], `phone_number,full_name\n${number},=Ana\n`)
    const file = join(folder.path, 'exported.csv')
    expect(await contacts(['export', '--output', file])).toMatchObject({ code: 0, out: '', err: '' })
    expect(await readFile(file, 'utf8')).toContain(`'=Ana,${number},+${number}`)
    expect((await contacts(['import', file])).out).toMatch(/unchanged +1/)
  })

  it('ends with 1 if it cannot write, and with 2 for an unknown format', async () => {
    const output = '/nowhere/contacts.csv'
    expect((await contacts(['export', '--output', output])).err).toMatch(/^parley: \/nowhere\/contacts\.csv cannot be/)
    expect(await contacts(['export', '--format', 'xlsx'])).toMatchObject({ code: 2, out: '' })
  })
})

describe('conversations export', () => {
  it.each(['csv', 'json'])('prints the conversation as the API returns it: %s', async (format) => {
    await contacts(['import', '-'], `phone_number\n${number}\n`)
    const body = { phone_number: number, message_type: 'text', text: 'Olá' }
    await world.request('POST', '/send-chat', { key: organization.key, body })
    await world.settle()
    const args = ['--org', organization.slug, '--contact', `+${number}`, '--format', format]
    const exported = await run(['conversations', 'export', ...args], env)
    expect(exported).toMatchObject({ code: 0, err: '' })
    const response = await fetch(`${world.app.url}/conversations/export?chatNumber=${number}&format=${format}`, {
      headers: { authorization: `Bearer ${organization.key}` },
    })
    expect(exported.out).toBe((await response.text()).replace(/^\uFEFF/, ''))
    expect(exported.out).toContain('Olá')
  })

  it("ends with 1 for another organization's contact", async () => {
    const other = await world.createOrganization()
    await world.request('POST', '/contact', { key: other.key, body: { phone_number: number } })
    const args = ['--org', organization.slug, '--contact', number]
    const refused = await run(['conversations', 'export', ...args], env)
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain(number)
  })
})
