import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { freePort } from '../support/free-port.js'
import { patience } from '../support/patience.js'
import { endPrograms } from './support/programs.js'
import { createOrganization, makeFolder, type Service, startService, succeed } from './support/service.js'

const HOST = 'chat.example.com'
const ADDRESS_OF_A_PROXY_BEFORE = '203.0.113.7'
const MEBIBYTE = 1024 * 1024

interface Ports {
  parley: number
  tls: number
  plain: number
}

/** How a proxy is run with the configuration that is shipped, on other ports and with a certificate of the test. */
const proxies = {
  nginx: {
    async configure(folder: string, { parley, tls, plain }: Ports) {
      const shipped = await readFile('deploy/nginx/parley.conf', 'utf8')
      const site = shipped
        .replaceAll(/127.0.0.1:808[01]/g, `127.0.0.1:${parley}`)
        .replace('listen 443', `listen 127.0.0.1:${tls}`)
        .replace('listen 80', `listen 127.0.0.1:${plain}`)
        .replaceAll(`/etc/ssl/${HOST}`, folder)
      const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const paths = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')
      const user = process.getuid?.() === 0 ? 'user root;' : ''
      await writeFile(
        join(folder, 'nginx.conf'),
        `${user} daemon off; pid ${folder}/pid; error_log ${folder}/errors; events {} http { access_log off; ${paths} ${site} }`,
      )
      return ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'errors')]
    },
  },
  caddy: {
    async configure(folder: string, { parley, tls, plain }: Ports) {
      const shipped = await readFile('deploy/caddy/Caddyfile', 'utf8')
      const site = shipped
        .replaceAll(/127.0.0.1:808[01]/g, `127.0.0.1:${parley}`)
        .replace(`\n${HOST} {`, `\n${HOST} {\n\tbind 127.0.0.1\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`)
      const options = `{\n\tadmin off\n\thttp_port ${plain}\n\thttps_port ${tls}\n\tstorage file_system ${folder}\n}\n`
      await writeFile(join(folder, 'Caddyfile'), options + site)
      return ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
    },
  },
}

let folder: Awaited<ReturnType<typeof makeFolder>>
let ports: Ports
let agent: Agent
let proxy: ChildProcess | null = null

beforeEach(async () => {
  folder = await makeFolder()
  ports = { parley: await freePort(), tls: await freePort(), plain: await freePort() }
})

afterEach(async () => {
  agent.destroy()
  await endPrograms()
  if (proxy !== null && proxy.exitCode === null) {
    const exited = once(proxy, 'exit')
    proxy.kill('SIGTERM')
    await exited
  }
  proxy = null
  await folder.remove()
})

for (const name of ['nginx', 'caddy'] as const) {
  describe.skipIf(!isInstalled(name))(`behind ${name}`, () => {
    it('messages, events and large uploads pass, and a restart is survived', async () => {
      await startProxy(name)
      let service = await serve()
      const { id, key } = await createOrganization(service)

      const text = JSON.stringify({ phone_number: '+5511987654321', message_type: 'text', text: 'Through the proxy' })
      const json = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const contact = JSON.stringify({ phone_number: '+5511987654321' })
      expect(await ask('POST', '/contact', json, contact)).toMatchObject({ status: 201 })
      expect(await ask('POST', '/send-chat', json, text)).toMatchObject({ status: 200 })

      const events = await openEvents(await signIn(service, id))
      expect(events.headers['content-type']).toMatch(/^text\/event-stream/)
      // The stream stays open: what arrives was not held back until its end.
      await once(events, 'data')
      events.destroy()

      await expectStreamed(key)

      service.program.kill('SIGTERM')
      await service.program.exited
      service = await serve()
      const read = await vi.waitFor(async () => {
        const answer = await ask('GET', '/conversations?chatNumber=5511987654321', json)
        expect(answer.status).toBe(200)
        return answer
      }, patience)
      expect(read.text).toContain('Through the proxy')
    })

    it('Parley learns the address of the client and the name of the host', async () => {
      await startProxy(name)
      const seen = new Promise<IncomingMessage>((resolve) => {
        const server = createServer((incoming, response) => {
          if (incoming.url === '/readyz') return response.end()
          resolve(incoming)
          response.end('seen')
          server.close()
        }).listen(ports.parley, '127.0.0.1')
      })
      expect(await ask('GET', '/', { 'x-forwarded-for': ADDRESS_OF_A_PROXY_BEFORE })).toMatchObject({ text: 'seen' })
      const { headers } = await seen
      // The last address is the one that Parley uses.
      expect(String(headers['x-forwarded-for']).split(', ').at(-1)).toBe('127.0.0.1')
      expect(headers.host?.replace(/:\d+$/, '')).toBe(HOST)
    })
  })
}

async function startProxy(name: keyof typeof proxies): Promise<void> {
  const place = join(folder.path, 'proxy')
  await mkdir(place)
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`]
  const files = ['-keyout', join(place, 'privkey.pem'), '-out', join(place, 'fullchain.pem')]
  await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...subject])
  agent = new Agent({ ca: await readFile(join(place, 'fullchain.pem')), servername: HOST })
  const args = await proxies[name].configure(place, ports)
  const env = {
    ...process.env,
    PATH: `${process.env.PATH}:/usr/sbin`,
    HOME: place,
    XDG_CONFIG_HOME: place,
    XDG_DATA_HOME: place,
  }
  proxy = spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
  let errors = ''
  proxy.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  await vi.waitFor(async () => {
    if (proxy?.exitCode !== null) throw new Error(errors)
    await once(connect(ports.tls, '127.0.0.1'), 'connect')
  }, patience)
}

function serve(): Promise<Service> {
  return startService({
    PARLEY_PORT: String(ports.parley),
    PARLEY_DATA_DIR: join(folder.path, 'data'),
    PARLEY_UPSTREAM_URL: 'sandbox',
    PARLEY_PUBLIC_URL: `https://${HOST}`,
    PARLEY_LOG_LEVEL: 'error',
  })
}

/** Returns the cookie of a member. */
async function signIn({ admin }: Service, organizationId: string): Promise<string> {
  const member = { email: 'olga@acme.example', full_name: 'Olga', role: 'owner' }
  const made = await succeed(admin('POST', `/organizations/${organizationId}/members`, member))
  const { body } = await succeed(admin('POST', `/members/${made.body.member.id}/sign-in-link`))
  const token = new URL(body.link.url).hash.slice(1)
  const headers = { 'content-type': 'application/json', origin: `https://${HOST}` }
  const answer = await ask('POST', '/console/api/session/link', headers, JSON.stringify({ token }))
  const [cookie = ''] = answer.headers['set-cookie'] ?? []
  expect(cookie).toContain('Secure')
  return cookie.split(';')[0] ?? ''
}

async function openEvents(cookie: string): Promise<IncomingMessage> {
  const stream = send('GET', '/console/api/live', { cookie, accept: 'text/event-stream' })
  stream.end()
  const [response] = await once(stream, 'response')
  return response
}

/** The second half of a file is sent when Parley has the first: the proxy does not wait for the whole. */
async function expectStreamed(key: string): Promise<void> {
  const half = Buffer.from(`phone_number,name\n${`+5511987654321,${'a'.repeat(100_000)}\n`.repeat(80)}`)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv', 'content-length': 2 * half.length }
  const upload = send('POST', '/contacts/import', headers)
  upload.write(half)
  await vi.waitFor(async () => expect(await spooledBytes()).toBeGreaterThan(4 * MEBIBYTE), patience)
  upload.end(half)
  const [response] = await once(upload, 'response')
  expect([response.statusCode, await textOf(response)]).toEqual([expect.toBeOneOf([200, 400]), expect.anything()])
}

async function spooledBytes(): Promise<number> {
  const spool = join(folder.path, 'data', 'spool')
  const sizes = (await readdir(spool)).map(async (file) => (await stat(resolve(spool, file))).size)
  return Math.max(0, ...(await Promise.all(sizes)))
}

async function ask(method: string, path: string, headers: OutgoingHttpHeaders, body = '') {
  const asked = send(method, path, { ...headers, 'content-length': Buffer.byteLength(body) })
  asked.end(body)
  const [response] = await once(asked, 'response')
  return { status: response.statusCode as number, headers: response.headers, text: await textOf(response) }
}

function send(method: string, path: string, headers: OutgoingHttpHeaders) {
  const to = { host: '127.0.0.1', port: ports.tls, agent, method, path }
  return request({ ...to, headers: { host: `${HOST}`, ...headers } })
}

async function textOf(response: IncomingMessage): Promise<string> {
  return Buffer.concat(await response.toArray()).toString()
}

function isInstalled(program: string): boolean {
  return [...(process.env.PATH ?? '').split(':'), '/usr/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program))
      return true
    } catch {
      return false
    }
  })
}
