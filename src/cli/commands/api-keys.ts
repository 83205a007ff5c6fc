import type { Command } from 'commander'
import { findKeyOrganization, issueApiKey, listKeys, revokeKey, rotateKey } from '../../core/identity/api-keys.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { CreateKey, RotateKey, readKeyFields } from '../../model/organizations/operator-input.js'
import { SCOPES } from '../../model/organizations/scope.js'
import { readOptions, toList, toNumber } from '../input.js'
import type { Invocation } from '../invocation.js'
import { asOperator } from '../operator.js'
import { printFields, printList, printNote } from '../output.js'

interface JsonOption {
  json?: boolean
}

interface CreateOptions extends JsonOption {
  name: string
  scopes?: string
  expiresAt?: string
}

interface RotateOptions extends JsonOption {
  overlap?: string
}

const SHOWN_ONCE = 'The key is shown only once: store it now'

/** `parley key …`: API keys, with the verbs of the admin API. */
export function addKeyCommands(program: Command, invocation: Invocation): void {
  const key = program.command('key').description('manage API keys')
  key
    .command('create <org>')
    .description('issue a key for an organization, named by its id or slug')
    .requiredOption('--name <name>', 'what the key is for (required)')
    .option('--scopes <scopes>', `comma-separated scopes (default: all of ${SCOPES.join(', ')})`)
    .option('--expires-at <time>', 'when the key expires, such as 2030-01-31T00:00:00Z (default: never)')
    .option('--json', 'print JSON')
    .action((org, options) => create(invocation, org, options))
  key
    .command('list <org>')
    .description("list an organization's keys")
    .option('--json', 'print JSON')
    .action((org, options) => list(invocation, org, options))
  key
    .command('rotate <keyId>')
    .description('replace a key with a new one')
    .option('--overlap <seconds>', 'how long the old key keeps working (default: 0)')
    .option('--json', 'print JSON')
    .action((keyId, options) => rotate(invocation, keyId, options))
  key
    .command('revoke <keyId>')
    .description('revoke a key, effective with the next request')
    .option('--json', 'print JSON')
    .action((keyId, options) => revoke(invocation, keyId, options))
}

async function create({ env, streams }: Invocation, org: string, options: CreateOptions): Promise<void> {
  const given = { name: options.name, scopes: toList(options.scopes), expires_at: options.expiresAt }
  const fields = readOptions(CreateKey, given, readKeyFields)
  const issued = await asOperator(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, org)
    return issueApiKey(ctx, id, fields)
  })
  printFields(streams, issued, options)
  printNote(streams, SHOWN_ONCE)
}

async function list({ env, streams }: Invocation, org: string, options: JsonOption): Promise<void> {
  const keys = await asOperator(env, async (ctx) => listKeys(ctx, (await findOrganizationByName(ctx, org)).id))
  printList(streams, keys, options, ({ scopes, ...key }) => ({
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: scopes.length === SCOPES.length ? 'all' : scopes,
    created_at: key.created_at,
    expires_at: key.expires_at,
    revoked_at: key.revoked_at,
    last_used_at: key.last_used_at,
  }))
}

async function rotate({ env, streams }: Invocation, keyId: string, options: RotateOptions): Promise<void> {
  const given = { overlap_seconds: toNumber(options.overlap) }
  const overlapSeconds = readOptions(RotateKey, given, ({ overlap_seconds = 0 }) => overlap_seconds)
  const issued = await asOperator(env, async (ctx) =>
    rotateKey(ctx, await findKeyOrganization(ctx, keyId), keyId, overlapSeconds),
  )
  printFields(streams, issued, options)
  printNote(streams, SHOWN_ONCE)
}

async function revoke({ env, streams }: Invocation, keyId: string, options: JsonOption): Promise<void> {
  const revoked = await asOperator(env, async (ctx) => revokeKey(ctx, await findKeyOrganization(ctx, keyId), keyId))
  printFields(streams, revoked, options)
}
