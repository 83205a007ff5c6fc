import { randomUUID } from 'node:crypto'
import type { MemberRole } from '../../src/model/organizations/member.js'
import type { Answer, RequestOptions, TestOrganization, World } from './world.js'

/** A signed-in member of a test. */
export interface SignedInMember {
  member: { id: string; email: string; full_name: string; role: MemberRole }
  /** The cookie header of the session, such as parley_session=…; updated from answers as in a browser. */
  readonly cookie: string
  /** A request in this session; the path is below /console/api. */
  call(method: string, path: string, options?: Omit<RequestOptions, 'key'>): Promise<Answer>
}

/** Adds a member with a password to the organization's team. */
export async function addMember(
  world: World,
  organization: TestOrganization,
  {
    role = 'owner',
    fullName = 'Olga Owner',
    password,
  }: { role?: MemberRole; fullName?: string; password?: string } = {},
): Promise<SignedInMember['member']> {
  const email = `${randomUUID().slice(0, 8)}@example.com`
  const made = await world.admin('POST', `/organizations/${organization.id}/members`, {
    email,
    full_name: fullName,
    role,
    password,
  })
  if (made.status !== 201) throw new Error(`member: ${JSON.stringify(made.body)}`)
  return { id: made.body.member.id, email, full_name: fullName, role }
}

/** Creates a member without a password, and signs in with a link: comparing passwords takes long on purpose. */
export async function signIn(
  world: World,
  organization: TestOrganization,
  fields: { role?: MemberRole; fullName?: string } = {},
): Promise<SignedInMember> {
  const member = await addMember(world, organization, fields)
  const token = await makeSignInLink(world, member.id)
  return { member, ...keepCookie(world, await begin(world, '/link', { token })) }
}

/** Creates a member and signs in with its password. */
export async function signInWithPassword(
  world: World,
  organization: TestOrganization,
  { role = 'owner', fullName = 'Olga Owner' }: { role?: MemberRole; fullName?: string } = {},
): Promise<SignedInMember & { password: string }> {
  const password = `password of ${fullName}`
  const member = await addMember(world, organization, { role, fullName, password })
  const name = { organization: organization.slug, email: member.email }
  return { member, password, ...keepCookie(world, await begin(world, '', { ...name, password })) }
}

async function begin(world: World, path: string, body: object): Promise<Answer> {
  const answer = await world.request('POST', `/console/api/session${path}`, { body })
  if (answer.status !== 200) throw new Error(`session: ${JSON.stringify(answer.body)}`)
  return answer
}

/** The token of a new sign-in link for the member. */
export async function makeSignInLink(world: World, memberId: string): Promise<string> {
  const made = await world.admin('POST', `/members/${memberId}/sign-in-link`)
  if (made.status !== 201) throw new Error(`link: ${JSON.stringify(made.body)}`)
  return made.body.link.url.split('#')[1]
}

/** Continues with the session of an answer's cookie. */
export function keepCookie(world: World, begun: Answer): Pick<SignedInMember, 'cookie' | 'call'> {
  let cookie = cookieOf(begun) ?? ''
  return {
    get cookie() {
      return cookie
    },
    call: async (method, path, { body, headers } = {}) => {
      const answer = await world.request(method, `/console/api${path}`, { body, headers: { cookie, ...headers } })
      cookie = cookieOf(answer) ?? cookie
      return answer
    },
  }
}

/** The cookie set by an answer, in the form of a request header; null without one. */
export function cookieOf({ headers }: Answer): string | null {
  return headers.get('set-cookie')?.split(';')[0] ?? null
}
