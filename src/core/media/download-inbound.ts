import { downloadDeviceFile } from '../../channels/linked-device/wire/media.js'
import type { Context } from '../../context.js'
import type { DownloadFailure } from '../../lib/http/safe-fetch.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { NetworkDetails } from '../../model/messages/message.js'
import { findInstanceById } from '../../storage/instances/instances.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import type { BusinessNumber } from '../../upstream/client.js'
import { openBusinessNumber } from '../organizations/business-number.js'
import { openInstanceNumber } from '../organizations/instance-number.js'

/** The source of an inbound message's file. */
export interface InboundSource {
  /** The upstream's id of the file. */
  mediaId: string
  /** The instance that the message came through; null: the organization's own number. */
  instanceId: string | null
  network: NetworkDetails | null
}

/** The result of a download. `final`: another try would fail too. */
export type InboundDownload =
  | { outcome: 'downloaded'; size: number }
  | { outcome: 'failed'; text: string; final: boolean }

/** The upstream's limit for files of senders. */
const LIMITS = { maxBytes: 100 * MEBIBYTE, timeoutMs: 60_000 }

/** Download failures caused by the file or its address, so later tries would fail too. */
const FINAL_FAILURES: readonly DownloadFailure[] = ['bad_url', 'too_big', 'empty']

/** Statuses of the network's media server for deleted files. */
const GONE = [404, 410]

/**
 * Downloads the file of an inbound message to a new file at `path`, through the channel that the message came through.
 */
export async function downloadInbound(
  ctx: Context,
  organizationId: string,
  source: InboundSource,
  path: string,
): Promise<InboundDownload> {
  const { network } = source
  if (network?.message) return downloadFromNetwork(ctx, network.message, path)
  const number = await findNumber(ctx, organizationId, source.instanceId)
  if (number === null) return failed('the number that it came to is not connected with the upstream', false)
  const found = await ctx.upstream.findMedia(number, source.mediaId, ctx.upstreamTimeoutMs)
  if (found.outcome !== 'found') return failed(found.text, found.outcome === 'gone')
  const headers = { authorization: `Bearer ${number.accessToken}` }
  const downloaded = await ctx.fetcher.download(found.url, path, { ...LIMITS, headers, trusted: true })
  if (downloaded.outcome === 'downloaded') return downloaded
  return failed(downloaded.text, FINAL_FAILURES.includes(downloaded.reason))
}

async function downloadFromNetwork(
  ctx: Context,
  message: Record<string, unknown>,
  path: string,
): Promise<InboundDownload> {
  const library = await ctx.linkedLibrary()
  if (library === null) return failed('the library of linked devices is not installed here', false)
  const downloaded = await downloadDeviceFile(library, message, path, LIMITS)
  if (downloaded.outcome === 'downloaded') return downloaded
  const { reason, status, text } = downloaded
  return failed(text, FINAL_FAILURES.includes(reason) || GONE.includes(status ?? 0))
}

async function findNumber(
  ctx: Context,
  organizationId: string,
  instanceId: string | null,
): Promise<BusinessNumber | null> {
  const tenant = await findTenant(ctx.database, organizationId)
  if (!tenant) return null
  if (instanceId === null) {
    const { provider, upstream } = tenant
    return provider === 'upstream' && upstream ? openBusinessNumber(ctx, organizationId, upstream) : null
  }
  const instance = await findInstanceById(ctx.database, organizationId, instanceId)
  return instance && openInstanceNumber(ctx, tenant, instance)
}

function failed(text: string, final: boolean): InboundDownload {
  return { outcome: 'failed', text, final }
}
