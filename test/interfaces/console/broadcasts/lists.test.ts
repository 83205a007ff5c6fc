import { beforeAll, describe, expect, it } from 'vitest'
import { OFFER, startBroadcastWorld } from '../../../support/broadcasts.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { useStarted } from '../../../support/started.js'

const at = useStarted(startBroadcastWorld)
let owner: SignedInMember

beforeAll(async () => {
  owner = await signIn(at.world, at.organization)
})

const CSV = { 'content-type': 'text/csv' }
const send = (path: string, body: string, by = owner) => by.call('POST', path, { body, headers: CSV })
const rowsOf = async (table: string) =>
  (await at.world.database.pool.query(`SELECT count(*)::int AS rows FROM ${table}`)).rows[0].rows

describe('POST /console/api/lists', () => {
  it('says what a list holds, whom it reaches, and which rows are left out, and stores nothing', async () => {
    const [one, two] = [at.newNumber(), at.newNumber()]
    const blocked = await at.newContact()
    await at.ask('PATCH', `/contact?chat_id=${blocked.digits}`, { body: { blocked: true } })
    const before = [await rowsOf('contacts'), await rowsOf('audiences'), await rowsOf('audience_recipients')]
    const text = `Telefone;Nome;DISCOUNT;Cidade\n+${one};Ana;5%;Rio\n+${two};;;\n+${blocked.digits};;;\n12;Rui;;\n;Eva;;\n`
    const { status, body } = await send(`/lists?templateName=${OFFER}&language=pt_BR`, text)
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        list: {
          recipients: 3,
          rejected: 2,
          errors: [
            {
              row: 5,
              error: 'Invalid field',
              message: expect.stringContaining('"12" is not'),
              value: '12',
              sentence: { code: 'phone_number', values: { field: 'chatNumber', given: '12' } },
            },
            {
              row: 6,
              error: 'Missing required field',
              message: expect.stringContaining('chatNumber is required'),
            },
          ],
          columns: ['phone_number', 'full_name', 'bodyParameters.discount'],
          ignored: ['Cidade'],
          first: {
            chatNumber: `+${one}`,
            name: 'Ana',
            bodyParameters: { discount: '5%' },
            buttonParameters: {},
          },
          reach: {
            total: 3,
            reachable: 2,
            skipped: [{ reason: 'blocked', count: 1 }],
            doubts: 0,
            doubtful: [],
          },
        },
      },
    ])
    expect([await rowsOf('contacts'), await rowsOf('audiences'), await rowsOf('audience_recipients')]).toEqual(before)
  })

  it('names the rows of a list without any recipient', async () => {
    const { body } = await send('/lists', 'Telefone\n12\n13\n')
    expect(body.list).toMatchObject({ recipients: 0, rejected: 2, first: null, reach: { total: 0 } })
    expect(body.list.errors.map(({ row, value }: { row: number; value: string }) => [row, value])).toEqual([
      [2, '12'],
      [3, '13'],
    ])
  })

  it('says which numbers are in doubt', async () => {
    const { body } = await send('/lists', 'Telefone;Nome\n51998765432;Ana\n+5511900001234;Rui\n')
    expect(body.list).toMatchObject({
      recipients: 2,
      first: { chatNumber: '+5551998765432' },
      reach: {
        total: 2,
        doubts: 1,
        doubtful: [{ row: 2, given: '51998765432', read_as: '+5551998765432', or: '+51998765432' }],
      },
    })
  })

  it('refuses what is no list', async () => {
    const { status, body } = await send('/lists', 'Cidade\nRio\n')
    expect([status, body.message]).toEqual([400, expect.stringContaining('it has "Cidade"')])
    expect((await send('/lists?templateName=nothing', '+5511900001234')).status).toBe(400)
  })

  it('counts no contact of another organization', async () => {
    const theirs = await at.newContact({}, at.other)
    await at.world.request('PATCH', `/contact?chat_id=${theirs.digits}`, { key: at.other.key, body: { blocked: true } })
    const { body } = await send('/lists', `+${theirs.digits}\n`)
    expect(body.list.reach).toMatchObject({ total: 1, reachable: 1, skipped: [] })
  })

  it('is not available to who sends no broadcasts', async () => {
    const analyst = await signIn(at.world, at.organization, { role: 'analyst' })
    expect((await send('/lists', '+5511900001234', analyst)).status).toBe(403)
  })

  it('is uploaded by the page when it is sent, with the same recipients', async () => {
    const text = `Celular;discount;param1\n+${at.newNumber()};5%;x\n12;;\n`
    const uploaded = await send(`/audiences?templateName=${OFFER}&language=pt_BR`, text)
    expect([uploaded.status, uploaded.body.audience]).toMatchObject([201, { recipients: 1, rejected: 1 }])
    const made = await owner.call('POST', '/broadcasts', {
      body: {
        name: 'List',
        templateName: OFFER,
        bodyParameters: { name: '{{first_name}}' },
        audience: { audienceId: uploaded.body.audience.id },
        scheduled_at: '2999-01-01T00:00:00Z',
      },
    })
    expect([made.status, made.body.broadcast]).toMatchObject([202, { totalRecipients: 1, skippedRecipients: 0 }])
    expect((await owner.call('DELETE', `/audiences/${uploaded.body.audience.id}`)).status).toBe(200)
  })
})
