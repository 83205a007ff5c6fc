import type { Command } from 'commander'
import { readTrace } from '../../core/messages/trace/read-trace.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import type { MessageTrace, TraceEntry } from '../../model/messages/trace.js'
import type { Invocation } from '../invocation.js'
import { asOperator } from '../operator.js'
import { printFields, printList, printNote } from '../output.js'

interface Options {
  json?: boolean
}

/** `parley message …`: what happened to a message. */
export function addMessageCommands(program: Command, invocation: Invocation): void {
  const message = program.command('message').description('find out what happened to a message')
  message
    .command('trace')
    .description('print what happened to a message, in the order of time')
    .argument('<org>', 'id or slug of the organization')
    .argument('<id>', "the message's id, or WhatsApp's id (wamid.…)")
    .option('--json', 'print JSON')
    .action((org, id, options) => trace(invocation, org, id, options))
}

async function trace({ env, streams }: Invocation, org: string, id: string, options: Options): Promise<void> {
  const told = await asOperator(env, async (ctx) => readTrace(ctx, (await findOrganizationByName(ctx, org)).id, id))
  if (options.json) return printFields(streams, told, options)
  printList(streams, told.entries, options, toRow)
  for (const note of notesOn(told)) printNote(streams, note)
}

function toRow(entry: TraceEntry) {
  const { at, kind, duration_ms } = entry
  return { at, kind, took: duration_ms === undefined ? null : `${duration_ms} ms`, details: detailsOf(entry) }
}

/** Everything that the columns do not show. */
function detailsOf({ at, kind, duration_ms, by, webhook_id, event_id, ...fields }: TraceEntry): string {
  const who = by && `by ${by.type} ${by.name ?? by.id}`
  const named = Object.entries(fields).map(([name, value]) => `${name}=${value}`)
  return [...(who ? [who] : []), ...named].join(' ')
}

function notesOn({ is_cut, status, outcome }: MessageTrace): string[] {
  return [
    `The message is ${status}${outcome === null ? '' : `, and its outcome is ${outcome}`}.`,
    ...(is_cut ? ['Some entries were left out, because there are too many.'] : []),
  ]
}
