import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCells } from '../../../src/core/contacts/cells.js'
import type { ContactField } from '../../../src/core/contacts/headings.js'
import { readHeading } from '../../../src/core/contacts/headings.js'
import { readTable } from '../../../src/core/contacts/table.js'

const FIELDS: ContactField[] = ['phone_number', 'chat_id', 'full_name', 'email', 'tags', 'source']

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-table-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function read(text: string) {
  const path = join(folder, 'table.csv')
  await writeFile(path, text)
  const rows = []
  for await (const row of readTable(path, { fields: FIELDS, number: 'phone_number' })) rows.push(row)
  return rows
}

/** The values of the only person of a file. */
async function readOne(text: string) {
  const [row, ...more] = await read(text)
  expect(more).toEqual([])
  if (!row || !('fields' in row)) throw new Error(JSON.stringify(row))
  return readCells(row.fields)
}

/** A row of a table with these headings: the text below each heading. */
function fileOf(headings: string, values: Record<string, string>, delimiter = ','): string {
  const names = headings.split(delimiter)
  for (const name of Object.keys(values)) expect(names).toContain(name)
  const cells = names.map((name) => values[name] ?? '')
  return `${headings}\r\n${cells.map((cell) => (cell.includes(delimiter) ? `"${cell}"` : cell)).join(delimiter)}\r\n`
}

const ANA = { phone_number: '+55 11 90000-1234', full_name: 'Ana Maria Souza', email: 'ana@example.com' }

describe('the export of', () => {
  it.each<[string, string, Record<string, string>, object]>([
    [
      'Google Contacts',
      'First Name,Middle Name,Last Name,Phonetic First Name,Phonetic Middle Name,Phonetic Last Name,Name Prefix,Name Suffix,Nickname,File As,Organization Name,Organization Title,Organization Department,Birthday,Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value',
      {
        'First Name': 'Ana',
        'Middle Name': 'Maria',
        'Last Name': 'Souza',
        Labels: 'vip ::: Praia ::: * myContacts',
        'E-mail 1 - Value': 'ana@example.com',
        'Phone 1 - Label': 'Work',
        'Phone 1 - Value': '+55 11 3333-4444',
        'Phone 2 - Label': '* Mobile',
        'Phone 2 - Value': '+55 11 90000-1234 ::: +55 11 90000-5678',
      },
      { ...ANA, tags: ['vip', 'Praia'] },
    ],
    [
      'Google Contacts, before 2023',
      'Name,Given Name,Additional Name,Family Name,Yomi Name,Group Membership,E-mail 1 - Type,E-mail 1 - Value,Phone 1 - Type,Phone 1 - Value',
      {
        Name: 'Ana Maria Souza',
        'Given Name': 'Ana',
        'Family Name': 'Souza',
        'Group Membership': '* myContacts ::: vip',
        'E-mail 1 - Value': 'ana@example.com',
        'Phone 1 - Type': 'Home',
        'Phone 1 - Value': '+55 11 90000-1234',
      },
      { ...ANA, tags: ['vip'] },
    ],
    [
      'Outlook',
      'First Name,Middle Name,Last Name,Title,Suffix,Nickname,E-mail Address,E-mail 2 Address,Home Phone,Home Phone 2,Business Phone,Business Phone 2,Mobile Phone,Car Phone,Other Phone,Primary Phone,Pager,Business Fax,Home Fax,Company Main Phone,Company,Categories',
      {
        'First Name': 'Ana',
        'Middle Name': 'Maria',
        'Last Name': 'Souza',
        'E-mail Address': 'ana@example.com',
        'Home Phone': '+55 11 3333-4444',
        'Mobile Phone': '+55 11 90000-1234',
        'Business Fax': '+55 11 3333-5555',
        Categories: 'vip;Praia',
      },
      { ...ANA, tags: ['vip', 'Praia'] },
    ],
    [
      'Outlook in Portuguese',
      'Nome;Segundo nome;Sobrenome;Endereço de Email;Telefone Residencial;Telefone Celular;Fax Comercial;Categorias',
      {
        Nome: 'Ana',
        'Segundo nome': 'Maria',
        Sobrenome: 'Souza',
        'Endereço de Email': 'ana@example.com',
        'Telefone Residencial': '(11) 3333-4444',
        'Telefone Celular': '+55 11 90000-1234',
      },
      ANA,
    ],
    [
      'Outlook in Spanish',
      'Nombre;Apellidos;Dirección de correo electrónico;Teléfono particular;Teléfono móvil;Fax del trabajo',
      {
        Nombre: 'Ana Maria',
        Apellidos: 'Souza',
        'Dirección de correo electrónico': 'ana@example.com',
        'Teléfono particular': '3333-4444',
        'Teléfono móvil': '+55 11 90000-1234',
      },
      ANA,
    ],
    [
      'Shopify',
      'First Name,Last Name,Email,Default Address Company,Default Address Phone,Phone,Accepts SMS Marketing,Tags',
      {
        'First Name': 'Ana Maria',
        'Last Name': 'Souza',
        Email: 'ana@example.com',
        'Default Address Phone': '+551133334444',
        Phone: "'+55 11 90000-1234",
        Tags: 'vip, newsletter',
      },
      { ...ANA, tags: ['vip', 'newsletter'] },
    ],
    [
      'HubSpot',
      'Record ID,First Name,Last Name,Email,Phone Number,Mobile Phone Number,Contact owner,Lead Status',
      {
        'First Name': 'Ana Maria',
        'Last Name': 'Souza',
        Email: 'ana@example.com',
        'Phone Number': '+55 11 3333-4444',
        'Mobile Phone Number': '+55 11 90000-1234',
      },
      ANA,
    ],
    [
      'HubSpot in Portuguese',
      'ID do registro,Nome,Sobrenome,E-mail,Número de telefone,Número de celular',
      {
        Nome: 'Ana Maria',
        Sobrenome: 'Souza',
        'E-mail': 'ana@example.com',
        'Número de telefone': '(11) 3333-4444',
        'Número de celular': '+55 11 90000-1234',
      },
      ANA,
    ],
    [
      'Pipedrive',
      'Person - Name,Person - Labels,Person - Organization,Person - Phone - Work,Person - Phone - Mobile,Person - Email - Work,Person - Owner',
      {
        'Person - Name': 'Ana Maria Souza',
        'Person - Labels': 'vip',
        'Person - Phone - Work': '+55 11 3333-4444',
        'Person - Phone - Mobile': '+55 11 90000-1234',
        'Person - Email - Work': 'ana@example.com',
      },
      { ...ANA, tags: ['vip'] },
    ],
    [
      'RD Station',
      'Email,Nome,Telefone,Celular,Empresa,Cargo,Estado,Cidade,Tags',
      {
        Email: 'ana@example.com',
        Nome: 'Ana Maria Souza',
        Telefone: '(11) 3333-4444',
        Celular: '+55 11 90000-1234',
        Tags: 'vip|newsletter',
      },
      { ...ANA, tags: ['vip', 'newsletter'] },
    ],
    [
      'Mailchimp',
      'Email Address|First Name|Last Name|Address|Phone Number|TAGS',
      {
        'Email Address': 'ana@example.com',
        'First Name': 'Ana Maria',
        'Last Name': 'Souza',
        'Phone Number': '+55 11 90000-1234',
        TAGS: '"""vip"",""newsletter"""',
      },
      { ...ANA, tags: ['vip', 'newsletter'] },
    ],
    [
      'Zoho and Bitrix24',
      'Last Name\tFirst Name\tEmail\tWork Phone\tFax\tMobile\tTag',
      {
        'Last Name': 'Souza',
        'First Name': 'Ana Maria',
        Email: 'ana@example.com',
        'Work Phone': '+55 11 3333-4444',
        Mobile: '+55 11 90000-1234',
        Tag: 'vip',
      },
      { ...ANA, tags: ['vip'] },
    ],
    [
      'WooCommerce',
      'billing_first_name,billing_last_name,billing_email,billing_phone,billing_country',
      {
        billing_first_name: 'Ana Maria',
        billing_last_name: 'Souza',
        billing_email: 'ana@example.com',
        billing_phone: '+55 11 90000-1234',
      },
      ANA,
    ],
  ])('%s is read', async (_tool, headings, values, person) => {
    const delimiter = ['\t', ';', '|'].find((one) => headings.includes(one)) ?? ','
    expect(await readOne(fileOf(headings, values, delimiter))).toEqual(person)
  })
})

describe('a heading', () => {
  it.each([
    ['WhatsApp', 0],
    ['Número de WhatsApp', 0],
    ['Telefone / WhatsApp (com DDD)', 0],
    ['Celular', 1],
    ['Celular (DDD)', 1],
    ['Mobile phone (with country code)', 1],
    ['MÓVIL', 1],
    ['Telemóvel', 1],
    ['Cell Phone #', 1],
    ['mobilePhone', 1],
    ['Telefone', 2],
    ['Nº de telefone', 2],
    ['TELÉFONO*', 2],
    ['Tel.', 2],
    ['Fone 1', 2],
    ['phone_e164', 2],
    ['Default Address Phone', 3],
    ['Telefone fixo', 3],
    ['Contact Number', 4],
    ['Número', 4],
  ])('%s is of a number', (heading, rank) => {
    expect(readHeading(heading)).toEqual({ field: 'phone_number', rank })
  })

  it.each([
    'Phone 1 - Label',
    'Phone Type',
    'Phone Country Code',
    'Phone Extension',
    'Fax',
    'DDD',
    'DDD Telefone',
    'Accepts SMS Marketing',
    'Número do pedido',
    'Company Name',
    'Nome da empresa',
    'Email Opt In',
    'Customer ID',
    '5511987654321',
    '[{"phone_number":"5511987654321"}]',
    'nono'.repeat(15),
    '',
  ])('%j is of nothing that is read', (heading) => {
    expect(readHeading(heading)).toBeNull()
  })
})

describe('a table', () => {
  it('has the number of the first filled column, if the one for messages is empty', async () => {
    const rows = await read('Nome,Fone 1,Fone 2,WhatsApp\nAna,1111111,,2222222\nRui,-,3333333,\nEva,4444444,,não tem\n')
    expect(rows.map((row) => 'fields' in row && row.fields.phone_number)).toEqual(['2222222', '3333333', '4444444'])
  })

  it('takes a column of an unsure name only if there is no other', async () => {
    expect(await readOne('Rua,Número,Telefone\nA,120,\n')).toEqual({})
    expect(await readOne('Nome,Número\nAna,5511900001234\n')).toMatchObject({ phone_number: '5511900001234' })
  })

  it('joins the parts of a name once', async () => {
    expect(await readOne('Nome,Sobrenome,Fone\nAna Souza,Souza,1111111\n')).toMatchObject({ full_name: 'Ana Souza' })
    expect(await readOne('Nombre,Primer apellido,Segundo apellido,Móvil\nAna,Paz,Gil,1111111\n')).toMatchObject({
      full_name: 'Ana Paz Gil',
    })
  })

  it.each([
    ['named by its first line', 'sep=;\r\nNome;Telefone\r\nAna, a Boa;+551190\r\n'],
    ['named in quotes', '"sep=|"\nNome|Telefone\nAna, a Boa|+551190\n'],
    ['semicolons beside commas in a heading', 'Nome;Telefone (fixo, com DDD, celular)\n"Ana, a Boa";+551190\n'],
    ['vertical bars', 'Nome|Telefone\nAna, a Boa|+551190\n'],
    ['tabs', 'Nome\tTelefone\nAna, a Boa\t+551190\n'],
    ['a quoted line break', 'Telefone,Nome\n+551190,"Ana, a Boa"\n'],
    ['blank rows first, and cells that are too many and empty', '\n;;\nNome;Telefone\nAna, a Boa;+551190;;;\n'],
  ])('is divided: %s', async (_how, text) => {
    expect(await readOne(text)).toEqual({ full_name: 'Ana, a Boa', phone_number: '+551190' })
  })

  it('counts rows without the line of the separator, and with line breaks in cells', async () => {
    const rows = await read('sep=,\nphone,name\n+551190,"Ana\nSouza"\n\n+551191,Rui\n')
    expect(rows).toEqual([
      { row: 2, fields: { phone_number: '+551190', full_name: 'Ana\nSouza' } },
      { row: 4, fields: { phone_number: '+551191', full_name: 'Rui' } },
    ])
  })

  it.each([
    ['a number', '+55 11 90000-1234', { phone_number: '+55 11 90000-1234' }],
    ['a name before it', 'Ana Souza;5511900001234', { phone_number: '5511900001234', full_name: 'Ana Souza' }],
    ['what Excel made of it', '5,5119E+12', { phone_number: '5,5119E+12' }],
    ['a JID', '5511900001234@s.whatsapp.net', { phone_number: '5511900001234@s.whatsapp.net' }],
    ['an address of WhatsApp', 'whatsapp:+5511900001234', { phone_number: 'whatsapp:+5511900001234' }],
  ])('may have no headings, but %s in its first row', async (_what, text, fields) => {
    const delimiter = text.includes(';') ? '' : ';'
    expect(await read(`${text}${delimiter}\n`)).toEqual([{ row: 1, fields }])
  })

  it('without a number names the columns that it has', async () => {
    const text = `${Array.from({ length: 23 }, (_, index) => `c${index}`).join(';')}\n1\n`
    await expect(read(text)).rejects.toThrow(/^phone_number is required: .* it has "c0", "c1", .*"c19" and 3 more$/)
    await expect(read('Name,2026-01-15\nAna,1500000\n')).rejects.toThrow(/it has "Name", "2026-01-15"$/)
  })
})
