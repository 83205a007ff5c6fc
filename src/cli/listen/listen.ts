import { lookup } from 'node:dns'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { readFeed } from '../../core/webhooks/feed.js'
import { readUrl } from '../../endpoints/address.js'
import { createEndpointClient } from '../../endpoints/client.js'
import { sleep } from '../../lib/async/backoff.js'
import { newWebhookSecret, readWebhookSecret, signWebhook } from '../../lib/crypto/standard-webhooks.js'
import type { AddressGuard } from '../../lib/http/address-guard.js'
import { Problem } from '../../model/problem.js'
import { readKinds } from '../../model/webhooks/webhook.js'
import { CliFailure } from '../failure.js'
import { toList } from '../input.js'
import type { Invocation } from '../invocation.js'
import { withMediaLinks } from '../operator.js'
import { printNote } from '../output.js'
import { following } from './follow.js'
import { bodyOf, type FeedEvent, forwardEvent } from './forward.js'

export interface ListenOptions {
  org: string
  types?: string
  from: string
  forward?: string
  secret?: string
}

const OLDEST = 'oldest'
const LATEST = 'latest'
const POLL_MS = 500

/** The user of this machine may forward to any address. */
const OPEN_GUARD: AddressGuard = { check: () => null, lookup }

/**
 * `parley webhooks listen`: follows the feed and prints each event as the signed request that an endpoint would get, or
 * posts it to an endpoint under development.
 */
export async function listen({ env, streams }: Invocation, { org, from, ...options }: ListenOptions): Promise<void> {
  const types = await readTypes(options.types)
  const url = readForward(options.forward)
  const secret = readSecret(options.secret)
  const client = createEndpointClient({ guard: OPEN_GUARD })
  await following(streams, (follow) =>
    withMediaLinks(env, async (ctx) => {
      const { id, name } = await findOrganizationByName(ctx, org)
      // One at a time, so that the position is always exact.
      const read = (after: string | null) => readFeed(ctx, id, { after, types, limit: 1 })

      let { events, nextAfter } = await naming('after', '--from', () => read(from === OLDEST ? null : from))
      let after = from === LATEST ? nextAfter : from
      printNote(streams, `Events of ${name} are ${url === null ? 'shown' : `posted to ${url}`}; Ctrl-C ends`)
      if (options.secret === undefined) printNote(streams, `They are signed with ${secret}`)
      try {
        while (!follow.signal.aborted) {
          const [event] = events
          if (event && url !== null) await forwardEvent(event, { ...follow, client, url, secret, clock: ctx.clock })
          else if (event) await follow.print(toRequest(event, secret, ctx.clock()))
          else await sleep(POLL_MS, follow.signal)
          after = nextAfter
          ;({ events, nextAfter } = await read(after))
        }
      } finally {
        printNote(streams, `To continue from here: --from ${after}`)
      }
    }),
  ).finally(() => client.close())
}

async function readTypes(given: string | undefined): Promise<string[] | null> {
  const types = toList(given)
  return types === undefined ? null : naming('types', '--types', () => readKinds(types, 'types', 'invalid_parameter'))
}

function readForward(given: string | undefined): string | null {
  if (given === undefined) return null
  const target = readUrl(given)
  if ('problem' in target) throw new CliFailure(2, `--forward cannot be called: ${target.problem}`)
  return given
}

function readSecret(given: string | undefined): string {
  const secret = given === undefined ? newWebhookSecret() : readWebhookSecret(given)
  if (secret !== null) return secret
  throw new CliFailure(2, '--secret must be whsec_ and 24 to 64 bytes in base64')
}

/** Reports an invalid field as the option that it comes from. Throws a CliFailure with code 2. */
async function naming<Result>(field: string, option: string, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Problem) || !error.message.startsWith(`${field} `)) throw error
    throw new CliFailure(2, error.message.replace(field, option))
  }
}

/** The request without headers that concern only the transport, followed by an empty line. */
function toRequest(event: FeedEvent, secret: string, at: Date): string {
  const body = bodyOf(event)
  const signed = signWebhook([secret], { id: event.id, timestamp: at, body })
  const headers = Object.entries({ 'content-type': 'application/json', ...signed })
  return ['POST', ...headers.map(([name, value]) => `${name}: ${value}`), '', body, '', ''].join('\n')
}
