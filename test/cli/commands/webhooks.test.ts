import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { besideService, run, useFolder } from '../../support/cli.js'
import { createContact } from '../../support/contacts.js'
import { startReceiver } from '../../support/receiver.js'
import { useStarted } from '../../support/started.js'
import { NO_ID, setWebhook } from '../../support/webhooks.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const folder = useFolder()
const receiver = useStarted(startReceiver)
const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization
let other: TestOrganization

beforeAll(async () => {
  env = { ...besideService(world.database.connection), PARLEY_DATA_DIR: folder.path }
})

beforeEach(async () => {
  receiver.respond(() => 204)
  organization = await world.createOrganization()
  other = await world.createOrganization()
})

const webhooks = (args: string[], { slug } = organization) => run(['webhooks', ...args, '--org', slug], env)

async function answered(path: string) {
  return (await world.request('GET', path, { key: organization.key })).body
}

describe('webhooks list', () => {
  it('prints the webhooks of the organization as a table, or as the API shows them', async () => {
    expect(await webhooks(['list'])).toMatchObject({ code: 0, out: '(none)\n', err: '' })
    const { id } = await setWebhook(world, organization, { url: receiver.url, events: ['message.received', '*'] })
    await setWebhook(world, other)
    const listed = await webhooks(['list', '--json'])
    expect(listed).toMatchObject({ code: 0, err: '' })
    expect(listed.json()).toEqual((await answered('/get-webhooks')).webhooks)
    const [header = '', ...rows] = (await webhooks(['list'])).out.trimEnd().split('\n')
    expect(header).toMatch(
      /^id +url +events +description +active +disabled_reason +created_at +last_attempt_at +answer$/,
    )
    expect(rows).toEqual([
      expect.stringMatching(`^${id} +${receiver.url} +message\\.received,\\* +- +true +- +20\\S+Z +- +-$`),
    ])
  })

  it('shows what each endpoint answered last, however many deliveries wait', async () => {
    const alive = await setWebhook(world, organization, { url: receiver.url, events: ['contact.created'] })
    await createContact(world, organization, '5511970004004')
    await world.drain()
    receiver.respond(() => 503)
    const dead = await setWebhook(world, organization, { url: receiver.url, events: ['contact.created'] })
    await world.database.pool.query('UPDATE webhooks SET active = id = $1 WHERE organization_id = $2', [
      dead.id,
      organization.id,
    ])
    await createContact(world, organization, '5511970004005')
    await world.drain()
    const { out } = await webhooks(['list'])
    expect(out).toMatch(new RegExp(`^${alive.id} .* false +- +20\\S+Z +20\\S+Z +204$`, 'm'))
    expect(out).toMatch(new RegExp(`^${dead.id} .* true +- +20\\S+Z +20\\S+Z +the endpoint answered 503$`, 'm'))
    await setWebhook(world, other, { url: receiver.url })
    expect((await webhooks(['list'], other)).out).toMatch(/ true +- +20\S+Z +- +-$/m)
  })

  it('shows no secret', async () => {
    const { secret } = await setWebhook(world, organization)
    expect((await webhooks(['list'])).out + (await webhooks(['list', '--json'])).out).not.toContain(secret.slice(6))
  })
})

describe('webhooks deliveries', () => {
  it('prints the deliveries, newest first, as a table or as the API shows them', async () => {
    const dead = await setWebhook(world, organization, { url: receiver.url, events: ['contact.created'] })
    receiver.respond(() => 503)
    await createContact(world, organization, '5511970004001')
    await world.drain()
    const alive = await setWebhook(world, organization, { url: receiver.url })
    receiver.respond(() => 204)
    await createContact(world, organization, '5511970004002')
    await world.drain()
    const listed = await webhooks(['deliveries', '--json'])
    expect(listed).toMatchObject({ code: 0, err: '' })
    expect(listed.json()).toEqual((await answered('/webhook-deliveries')).deliveries)
    expect(listed.json()).toHaveLength(3)

    const [header = '', ...rows] = (await webhooks(['deliveries', '--webhook', alive.id])).out.trimEnd().split('\n')
    expect(header).toMatch(/^id +created_at +event +webhook_id +status +attempts +answer +next_attempt_at$/)
    expect(rows).toEqual([expect.stringMatching(`^\\S+ +\\S+Z +contact\\.created +${alive.id} +delivered +1 +204 +-$`)])
    const pending = await webhooks(['deliveries', '--status', 'pending'])
    expect(pending.out).toMatch(new RegExp(`${dead.id} +pending +1 +the endpoint answered 503 +20\\S+Z\\n$`))
    expect((await webhooks(['deliveries', '--page', '2'])).out).toBe('(none)\n')
  })

  it('shows nothing of another organization', async () => {
    const { id } = await setWebhook(world, organization, { url: receiver.url })
    await createContact(world, organization, '5511970004003')
    await world.drain()
    expect(await webhooks(['deliveries'], other)).toMatchObject({ code: 0, out: '(none)\n' })
    expect(await webhooks(['deliveries', '--webhook', id], other)).toMatchObject({ code: 0, out: '(none)\n' })
  })
})

describe('wrong usage', () => {
  it.each([
    [['deliveries', '--page', '0'], /^parley: --page .*\n$/],
    [['deliveries', '--status', 'lost'], /^parley: option '--status .*\n$/],
    [['deliveries', '--webhook', 'x'], /^parley: --webhook .*\n$/],
    [['tail', '--webhook', 'x'], /^parley: --webhook .*\n$/],
    [['listen', '--types', 'message.lost'], /^parley: --types "message\.lost" is not one of .*\n$/],
    [['listen', '--from', 'yesterday'], /^parley: --from "yesterday" is not a position .*\n$/],
    [['listen', '--forward', 'localhost:80'], /^parley: --forward cannot be called: the URL begins with .*\n$/],
    [['listen', '--secret', 'hunter2'], /^parley: --secret must be whsec_ and (?!.*hunter2).*\n$/],
  ])('%j ends with 2 and one line', async (args, complaint) => {
    const refused = await webhooks(args)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(complaint)
  })

  it.each(['list', 'deliveries', 'tail', 'listen'])('%s requires an existing organization', async (command) => {
    expect(await run(['webhooks', command], env)).toMatchObject({ code: 2, out: '' })
    expect(await run(['webhooks', command, '--org', 'nowhere'], env)).toMatchObject({ code: 1, out: '' })
  })

  it('tail rejects a webhook of another organization', async () => {
    const { id } = await setWebhook(world, organization)
    for (const unknown of [id, NO_ID]) {
      expect(await webhooks(['tail', '--webhook', unknown], other)).toMatchObject({
        code: 1,
        out: '',
        err: `parley: There is no webhook with the id ${unknown} in this organization\n`,
      })
    }
  })
})
