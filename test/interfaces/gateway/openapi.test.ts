import { describe, expect, it } from 'vitest'
import { type Description, operationsOf } from '../../support/openapi.js'
import { useWorld } from '../../support/world.js'

const world = useWorld()

const read = async (path: string): Promise<Description> => (await world.request('GET', path)).body

describe('GET /gateway/openapi.json', () => {
  it('is OpenAPI 3.1.0, version 1.0.0, with Interface B only', async () => {
    const description = await read('/gateway/openapi.json')
    expect([description.openapi, description.info.version]).toEqual(['3.1.0', '1.0.0'])
    const paths = Object.keys(description.paths)
    expect(paths).toContain('/gateway/instance/create')
    expect(paths).toContain('/gateway/instance/connectionState/{instance}')
    expect(paths.filter((path) => !path.startsWith('/gateway/'))).toEqual([])
    expect(paths.filter((path) => /\/(typebot|group|rabbitmq)\//.test(path))).toEqual([])
  })

  it('lists the errors of each endpoint, and is the same with a trailing slash', async () => {
    const description = await read('/gateway/openapi.json')
    expect(operationsOf(description).length).toBeGreaterThan(10)
    for (const operations of Object.values(description.paths)) {
      for (const { responses } of Object.values(operations)) {
        expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403', '429', '503', 'default']))
      }
    }
    expect(await read('/gateway/openapi.json/')).toEqual(description)
  })
})

describe('the bodies of sends', () => {
  it('are described in both forms, and as multipart forms if they have a file', async () => {
    const description = await read('/gateway/openapi.json')
    const bodyOf = (verb: string) => JSON.stringify(description.paths[`/gateway/message/${verb}/{instance}`]?.post)
    expect(bodyOf('sendReaction')).toContain('"#/components/schemas/SendReactionNested"')
    expect(bodyOf('sendMedia')).toContain(
      '"multipart/form-data":{"schema":{"$ref":"#/components/schemas/SendMediaForm"}',
    )
    expect(bodyOf('sendText')).not.toContain('multipart')
    const { SendReactionNested, SendMediaForm } = description.components.schemas
    expect(JSON.stringify(SendReactionNested)).toContain('"reactionMessage":{')
    expect(JSON.stringify(SendMediaForm)).toContain('"format":"binary"')
  })
})

describe('GET /openapi.json', () => {
  it('does not contain Interface B', async () => {
    const { paths } = await read('/openapi.json')
    expect(Object.keys(paths).filter((path) => path.startsWith('/gateway'))).toEqual([])
  })
})
