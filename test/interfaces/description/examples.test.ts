import { expect, it } from 'vitest'
import type { Document, Operation } from '../../../src/http/description/document.js'
import type { Examples } from '../../../src/http/description/examples.js'
import { DESCRIPTIONS } from '../../support/openapi.js'
import { compileScriptedLibrary, startScriptedNetwork } from '../../support/scripted-device/network.js'
import { useStarted } from '../../support/started.js'
import { useWorld } from '../../support/world.js'
import { recordAdmin } from './record-admin.js'
import { recordApi } from './record-api.js'
import { recordGateway } from './record-gateway.js'

const library = useStarted(compileScriptedLibrary, (started) => started.remove())
const network = useStarted(startScriptedNetwork)
const world = useWorld(() => ({
  PARLEY_LINKED_DEVICE_LIBRARY: library.path,
  PARLEY_LINKED_DEVICE_URL: network.url,
}))

/** Compares what was recorded with the examples of the descriptions; `vitest -u` writes them. */
async function expectExamples(name: string, recorded: Examples): Promise<void> {
  const text = `${JSON.stringify(recorded, null, 2)}\n`
  await expect(text).toMatchFileSnapshot(`../../../docs/examples/${name}.json`)
}

const organizationOf = (name: string, slug: string) =>
  world.createOrganization({ name, slug, default_country: 'BR', currency: 'BRL' })

it('the examples of the API are its answers', async () => {
  await expectExamples('api', await recordApi(world, await organizationOf('Acme', 'acme')))
})

it('the examples of the gateway are its answers', async () => {
  await expectExamples('gateway', await recordGateway(world, network, await organizationOf('Initech', 'initech')))
})

it('the examples of the admin API are its answers', async () => {
  await world.reset()
  await expectExamples('admin', await recordAdmin(world))
})

it('every operation has an example of its request, its answer and an error, and every webhook of its body', async () => {
  for (const path of DESCRIPTIONS) {
    const { paths, webhooks = {} } = (await world.request('GET', path)).body as Document
    const operations = Object.values(paths).flatMap((item) => Object.values(item))
    expect(operations.flatMap((one) => [...missingBodies(one), ...missingAnswers(one)])).toEqual([])
    expect(Object.values(webhooks).flatMap(({ post }) => missingBodies(post))).toEqual([])
  }
})

/** What a request lacks: JSON, or one of the types of its file. A form has none: its file would have to be one. */
function missingBodies({ operationId, requestBody }: Operation): string[] {
  const bodies = Object.entries(requestBody?.content ?? {}).filter(([type]) => type !== 'multipart/form-data')
  return [
    bodies.filter(([type]) => type === 'application/json'),
    bodies.filter(([type]) => type !== 'application/json'),
  ]
    .filter((kind) => kind.length > 0 && kind.every(([, { example }]) => example === undefined))
    .map((kind) => `${operationId}: ${kind.map(([type]) => type).join(', ')}`)
}

function missingAnswers({ operationId, responses }: Operation): string[] {
  const answers = Object.entries(responses)
  const missing = answers
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content = {} }]) =>
      Object.entries(content)
        .filter(([, { example }]) => example === undefined)
        .map(([type]) => `${operationId}: ${status} ${type}`),
    )
  const hasError = answers.some(
    ([status, { content }]) => status >= '4' && content?.['application/json']?.example !== undefined,
  )
  return hasError ? missing : [...missing, `${operationId}: an error`]
}
