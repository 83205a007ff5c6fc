import type { Command } from 'commander'
import type { OperatorContext } from '../../context.js'
import { addMember, listMembers, memberNotFound, removeMemberAsOperator } from '../../core/identity/members.js'
import { createPasswords } from '../../core/identity/passwords.js'
import { createSignInLinkOfMember } from '../../core/identity/sign-in-links.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { CreateMember } from '../../model/organizations/operator-input.js'
import { CliFailure } from '../failure.js'
import { readOptions, readPassword } from '../input.js'
import type { Invocation } from '../invocation.js'
import { asOperator, withSignInLinks } from '../operator.js'
import { printDone, printFields, printList } from '../output.js'

interface JsonOption {
  json?: boolean
}

interface AddOptions extends JsonOption {
  email: string
  name: string
  role: string
  passwordStdin?: boolean
}

/** `parley member …`: the teams of organizations, with the verbs of the admin API. */
export function addMemberCommands(program: Command, invocation: Invocation): void {
  const member = program.command('member').description('manage team members')
  member
    .command('add <org>')
    .description('add a member to the team of an organization, named by its id or slug')
    .requiredOption('--email <address>', 'e-mail address (required)')
    .requiredOption('--name <name>', 'full name (required)')
    .requiredOption('--role <role>', 'owner, agent or analyst (required)')
    .option('--password-stdin', 'read a password from standard input')
    .option('--json', 'print JSON')
    .action((org, options) => add(invocation, org, options))
  member
    .command('list <org>')
    .description("list an organization's members")
    .option('--json', 'print JSON')
    .action((org, options) => list(invocation, org, options))
  member
    .command('link <member>')
    .description('create a link that signs the member in to the console; it works once, within a day')
    .option('--org <org>', 'the organization (id or slug) of a member who is named by e-mail address')
    .option('--json', 'print JSON')
    .action((named, options) => link(invocation, named, options))
  member
    .command('remove <memberId>')
    .description('remove a member from the team')
    .action((memberId) => remove(invocation, memberId))
}

async function add({ env, streams }: Invocation, org: string, options: AddOptions): Promise<void> {
  const { email, name, role } = options
  const password = options.passwordStdin ? await readPassword(streams) : undefined
  const fields = readOptions(CreateMember, { email, full_name: name, role, password }, (input) => input)
  const member = await asOperator(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, org)
    return addMember({ ...ctx, passwords: createPasswords() }, id, fields)
  })
  printFields(streams, member, options)
}

async function list({ env, streams }: Invocation, org: string, options: JsonOption): Promise<void> {
  const members = await asOperator(env, async (ctx) => listMembers(ctx, (await findOrganizationByName(ctx, org)).id))
  printList(streams, members, options)
}

interface LinkOptions extends JsonOption {
  org?: string
}

async function link({ env, streams }: Invocation, named: string, options: LinkOptions): Promise<void> {
  const { org } = options
  if (named.includes('@') && org === undefined) {
    throw new CliFailure(2, `--org is required with an e-mail address: parley member link ${named} --org <slug>`)
  }
  const signInLink = await withSignInLinks(env, async (ctx) =>
    createSignInLinkOfMember(ctx, org === undefined ? named : await findMemberId(ctx, org, named)),
  )
  printFields(streams, signInLink, options)
}

/** The id of a member who is named by id or e-mail address. */
async function findMemberId(ctx: OperatorContext, org: string, named: string): Promise<string> {
  const { id } = await findOrganizationByName(ctx, org)
  const name = named.toLowerCase()
  const member = (await listMembers(ctx, id)).find((one) => one.id === name || one.email.toLowerCase() === name)
  return member?.id ?? memberNotFound(named)
}

async function remove({ env, streams }: Invocation, memberId: string): Promise<void> {
  await asOperator(env, (ctx) => removeMemberAsOperator(ctx, memberId))
  printDone(streams, 'The member has been removed')
}
