import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../support/free-port.js'
import { patience } from '../support/patience.js'
import type { TestOrganization } from '../support/world.js'
import { endPrograms, runProgram } from './support/programs.js'
import { type CellPlace, hasProxy, type RunningProxy, startProxyForCells } from './support/proxies.js'
import {
  call,
  createOrganization,
  makeFolder,
  type Sandbox,
  type Service,
  startSandbox,
  startService,
  succeed,
} from './support/service.js'

/** Stands for the host name of a cell. */
const HOSTS = { eu1: '127.0.0.2', us1: '127.0.0.3' }
type Cell = keyof typeof HOSTS
const CELLS = Object.keys(HOSTS) as Cell[]

const installed = (['haproxy', 'nginx'] as const).filter(hasProxy)

/** Two installations with their own databases, files and secrets, behind one proxy. */
describe.each(installed)('two cells behind %s', (name) => {
  const services = {} as Record<Cell, Service>
  const places = {} as Record<Cell, CellPlace>
  const organizations = {} as Record<Cell, TestOrganization>
  let folder: Awaited<ReturnType<typeof makeFolder>>
  let sandbox: Sandbox
  let proxy: RunningProxy
  let port: number

  const envOf = (cell: Cell) => ({
    PARLEY_CELL: cell,
    PARLEY_PUBLIC_URL: own(cell, ''),
    PARLEY_PORT: String(places[cell].port),
    PARLEY_DATA_DIR: `${folder.path}/${cell}`,
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
  })
  const parley = async (cell: Cell, ...args: string[]) => {
    const { code, errors, output } = await runProgram(args, { env: envOf(cell) })
    expect({ args, code, errors: code === 0 ? [] : errors }).toEqual({ args, code: 0, errors: [] })
    return output.join('\n')
  }
  const own = (cell: Cell, path: string) => `http://${HOSTS[cell]}:${port}${path}`
  const common = (path: string) => `http://127.0.0.1:${port}${path}`
  const textsIn = async (cell: Cell, number: string) => {
    const asked = call(own(cell, `/conversations?chatNumber=${number}`), 'GET', { key: organizations[cell].key })
    return (await succeed(asked)).body.messages.map(({ message }: { message: string }) => message)
  }

  beforeAll(async () => {
    folder = await makeFolder()
    sandbox = await startSandbox()
    port = await freePort()
    for (const cell of CELLS) places[cell] = { host: HOSTS[cell], port: await freePort() }
    proxy = await startProxyForCells(name, folder.path, { port, cells: places })
    for (const cell of CELLS) {
      services[cell] = await startService(envOf(cell))
      await vi.waitFor(async () => expect((await call(own(cell, '/readyz'), 'GET')).status).toBe(200), patience)
      organizations[cell] = await createOrganization(services[cell])
      const { key } = organizations[cell]
      await succeed(call(own(cell, '/contact'), 'POST', { key, body: { phone_number: '+16505551000' } }))
    }
  })

  afterAll(async () => {
    await endPrograms()
    await proxy?.stop()
    await folder.remove()
  })

  it.each(CELLS)('a key of %s names it, and works at the common address and at its own', async (cell) => {
    const { key } = organizations[cell]
    expect(key).toMatch(new RegExp(`^parley_${cell}_[\\w-]{43}$`))
    for (const [n, url] of [common('/send-chat'), own(cell, '/send-chat')].entries()) {
      const body = { phone_number: '+16505551000', message_type: 'text', text: `from ${cell} ${n}` }
      await succeed(call(url, 'POST', { key, body }))
    }
    expect(await textsIn(cell, '16505551000')).toEqual([`from ${cell} 1`, `from ${cell} 0`])
  })

  it.each(CELLS)('a callback reaches %s at its own address, and shows there', async (cell) => {
    const { phoneNumberId } = organizations[cell]
    const inbound = { phone_number_id: phoneNumberId, from: '16505552000', type: 'text', text: { body: `to ${cell}` } }
    await succeed(sandbox.control('POST', '/inbound', inbound))
    await vi.waitFor(async () => expect(await textsIn(cell, '16505552000')).toEqual([`to ${cell}`]), patience)
  })

  it.each(CELLS)('the page of %s is at its own address, which its sign-in link names', async (cell) => {
    const { admin } = services[cell]
    const path = `/organizations/${organizations[cell].id}/members`
    const fields = { email: `anna@${cell}.example`, full_name: 'Anna', role: 'owner' }
    const { member } = (await succeed(admin('POST', path, fields))).body
    const { url } = (await succeed(admin('POST', `/members/${member.id}/sign-in-link`))).body.link
    expect(url).toContain(own(cell, '/console/sign-in#'))
    const page = await call(own(cell, '/console/'), 'GET')
    expect(page.status).toBe(200)
    const token = new URL(url).hash.slice(1)
    const headers = { origin: own(cell, '') }
    const body = { token }
    const signedIn = await succeed(call(own(cell, '/console/api/session/link'), 'POST', { headers, body }))
    const cookie = String(signedIn.headers.get('set-cookie')).split(';')[0] ?? ''
    expect((await call(own(cell, '/console/api/session'), 'GET', { headers: { cookie } })).status).toBe(200)
    const other = CELLS.find((one) => one !== cell) as Cell
    expect((await call(own(other, '/console/api/session'), 'GET', { headers: { cookie } })).status).toBe(401)
  })

  it.each(CELLS)(
    "the gateway of %s takes keys at both addresses, and its instances' tokens at its own",
    async (cell) => {
      const { key } = organizations[cell]
      const body = { instanceName: `shop-${cell}`, integration: 'SANDBOX' }
      const headers = { apikey: key }
      const made = await succeed(call(common('/gateway/instance/create'), 'POST', { headers, body }))
      const token = made.body.hash
      const state = await call(own(cell, `/gateway/instance/connectionState/shop-${cell}`), 'GET', {
        headers: { apikey: token },
      })
      expect(state.status).toBe(200)
    },
  )

  it('a key of one cell is not known in the other', async () => {
    const { key } = organizations.eu1
    const answer = await call(own('us1', '/broadcast-analytics'), 'GET', { key })
    expect(answer).toMatchObject({ status: 401 })
  })

  it('the keys of an organization that has moved reach its new cell, which the proxy knows by how they begin', async () => {
    const { key, slug } = await createOrganization(services.eu1)
    const archive = `${folder.path}/moved.tar`
    await parley('eu1', 'org', 'suspend', slug)
    await parley('eu1', 'org', 'export', slug, archive)
    await parley('us1', 'org', 'import', archive)
    await parley('us1', 'org', 'resume', slug)
    const ask = (of: string) => call(common('/shortlinks'), 'GET', { key: of })
    expect(await ask(key)).toMatchObject({ status: 503, body: { retry_after: 30 } })

    const [{ prefix }] = JSON.parse(await parley('us1', 'key', 'list', slug, '--json'))
    await proxy.stop()
    proxy = await startProxyForCells(name, folder.path, { port, cells: places, moved: prefix })
    await succeed(ask(key))
    for (const cell of CELLS) await succeed(ask(organizations[cell].key))
  })

  it('a cell that is down stops nothing in the other', async () => {
    services.us1.program.kill('SIGKILL')
    await services.us1.program.exited
    await vi.waitFor(
      async () => expect((await call(own('us1', '/readyz'), 'GET')).status).toBeGreaterThanOrEqual(502),
      patience,
    )
    const body = { phone_number: '+16505551000', message_type: 'text', text: 'still here' }
    await succeed(call(common('/send-chat'), 'POST', { key: organizations.eu1.key, body }))
    const refused = await call(common('/send-chat'), 'POST', { key: organizations.us1.key, body })
    expect(refused.status).toBeGreaterThanOrEqual(502)
  })
})
