import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Option } from 'commander'
import type { OperatorContext } from '../context.js'
import type { ExportFormat } from '../core/contacts/export.js'
import { findOrganizationByName } from '../core/organizations/organizations.js'
import type { Organization } from '../model/organizations/organization.js'
import { CliFailure } from './failure.js'
import type { Invocation, Streams } from './invocation.js'
import { asOperator } from './operator.js'

export interface ExportOptions {
  org: string
  format: ExportFormat
  output?: string
}

/** Writes an organization's export to a file or to standard output. Throws a CliFailure with code 1. */
export async function exportFile(
  { env, streams }: Invocation,
  { org, format, output }: ExportOptions,
  exportAll: (ctx: OperatorContext, organization: Organization, format: ExportFormat) => AsyncIterable<string>,
): Promise<void> {
  await asOperator(env, async (ctx) => {
    const organization = await findOrganizationByName(ctx, org)
    await writeDocument(streams, exportAll(ctx, organization, format), output)
  })
}

/** `--format` of an export. */
export function formatOption(): Option {
  return new Option('--format <format>').choices(['csv', 'json']).default('csv')
}

/** Writes the parts of a document to a file, or to standard output without a path. Throws a CliFailure with code 1. */
export async function writeDocument(
  { stdout }: Streams,
  parts: AsyncIterable<string | Buffer>,
  output: string | undefined,
): Promise<void> {
  const source = Readable.from(parts, { objectMode: false })
  if (output === undefined) {
    await pipeline(source, stdout, { end: false }).catch(ignoreClosedReader)
    return
  }
  await pipeline(source, createWriteStream(output)).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined || error.path !== output) throw error
    throw new CliFailure(1, `${output} cannot be written: ${error.message}`)
  })
}

/** The reader may stop reading. */
function ignoreClosedReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
}
