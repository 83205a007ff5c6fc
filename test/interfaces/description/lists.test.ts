import { expect, it } from 'vitest'
import { DESCRIPTIONS } from '../../support/openapi.js'
import { startWorld } from '../../support/world.js'

type Node = { [key: string]: unknown }

/** The paths of all lists without a `maxItems`. */
function unboundedLists(node: unknown, document: Node, path: string, seen: readonly string[] = []): string[] {
  if (typeof node !== 'object' || node === null) return []
  const { $ref, type, maxItems } = node as { $ref?: string; type?: string; maxItems?: number }
  if ($ref !== undefined) {
    if (seen.includes($ref)) return []
    return unboundedLists(resolve($ref, document), document, path, [...seen, $ref])
  }
  const own = type === 'array' && maxItems === undefined ? [path] : []
  const inner = Object.entries(node).flatMap(([key, value]) => unboundedLists(value, document, `${path}.${key}`, seen))
  return [...own, ...inner]
}

function resolve(ref: string, document: Node): unknown {
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Node)[key], document)
}

it('every list in the body of a request has a maximum length', async () => {
  const world = await startWorld()
  try {
    for (const description of DESCRIPTIONS) {
      const { body: document } = await world.request('GET', description)
      const operations = Object.entries(document.paths as Record<string, Record<string, Node>>).flatMap(
        ([path, methods]) =>
          Object.entries(methods).map(([method, { requestBody }]) => ({ path, method, requestBody })),
      )
      const bodies = operations.filter(({ requestBody }) => requestBody !== undefined)
      expect(bodies.length).toBeGreaterThan(0)
      const unbounded = bodies.flatMap(({ path, method, requestBody }) =>
        unboundedLists(requestBody, document, `${method} ${path}`),
      )
      expect(unbounded).toEqual([])
    }
  } finally {
    await world.close()
  }
})
