import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useWorld } from '../../support/world.js'

const world = useWorld()
const pages = readdirSync('docs', { encoding: 'utf8', recursive: true }).filter((file) => file.endsWith('.md'))

const get = (path: string) => world.request('GET', path)

describe('/docs', () => {
  it('shows the descriptions of all interfaces, without a key', async () => {
    const { body } = await get('/docs/static/swagger-initializer.js')
    for (const url of ['/openapi.json', '/gateway/openapi.json', '/docs/admin.json']) {
      expect(body).toContain(`"${url}"`)
      expect((await get(url)).body.openapi).toBe('3.1.0')
    }
  })

  it('is called Parley, has its picture, and leads to the guides', async () => {
    const { body: page } = await get('/docs/')
    expect(page).toContain('<title>Parley: API reference</title>')
    expect(page).toContain('parley.svg')
    for (const url of ['/openapi.json', '/gateway/openapi.json']) {
      const { description } = (await get(url)).body.info
      const links = [...description.matchAll(/\]\((\/[^)]+)\)/g)].map(([, path]) => path)
      expect(links.length).toBeGreaterThan(2)
      for (const path of links) expect([path, (await get(path)).status]).toEqual([path, 200])
    }
  })

  it('has every page of the docs as Markdown', async () => {
    expect(pages.length).toBeGreaterThan(5)
    for (const page of pages) {
      const { status, headers, body } = await get(`/docs/${page}`)
      expect([page, status, headers.get('content-type')]).toEqual([page, 200, 'text/markdown; charset=utf-8'])
      expect(body).toMatch(/^# /m)
    }
  })

  it('has no other file', async () => {
    for (const name of [
      'nothing.md',
      '..%2fREADME.md',
      '%2e%2e/README.md',
      'decisions%2fhttp-client.md',
      '..%5cREADME.md',
    ]) {
      expect([name, (await get(`/docs/${name}`)).status]).toEqual([name, 404])
    }
  })
})

describe('/llms.txt', () => {
  it('names every page and description, at both addresses', async () => {
    const { body, headers } = await get('/llms.txt')
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const links = [...body.matchAll(/\]\((\S+?)\)/g)].map((link) => link[1])
    expect(links).toEqual(expect.arrayContaining(pages.map((page) => `/docs/${page}`)))
    for (const link of links) expect([link, (await get(link)).status]).toEqual([link, 200])
    expect((await get('/docs/llms.txt')).body).toBe(body)
  })
})

describe('the description of the admin API', () => {
  it('is behind the admin token below /admin, as everything there is', async () => {
    expect((await get('/admin/openapi.json')).status).toBe(401)
    const { body } = await world.admin('GET', '/openapi.json')
    expect(body).toEqual((await get('/docs/admin.json')).body)
    const paths = Object.keys(body.paths)
    expect(paths.length).toBeGreaterThan(8)
    expect(paths.filter((path) => !path.startsWith('/admin/'))).toEqual([])
  })
})
