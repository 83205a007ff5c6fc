import type { Answer, TestOrganization, World } from './world.js'

/** An instance of a test. */
export interface TestInstance {
  id: string
  name: string
  token: string
  /** The full answer of instance/create. */
  answer: Answer
}

/** Creates an instance of the organization, by default one with the organization's business number. */
export async function createInstance(
  world: World,
  organization: Pick<TestOrganization, 'key'>,
  fields: Record<string, unknown> = {},
): Promise<TestInstance> {
  const body = { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS', ...fields }
  const answer = await world.request('POST', '/gateway/instance/create', { key: organization.key, body })
  if (answer.status !== 201) throw new Error(`instance: ${answer.status} ${JSON.stringify(answer.body)}`)
  const { instanceId: id, instanceName: name } = answer.body.instance
  return { id, name, token: answer.body.hash, answer }
}

/** Scans the code that a SANDBOX instance shows. */
export async function scan(
  world: World,
  organization: Pick<TestOrganization, 'id'>,
  instance: string,
  number: string,
): Promise<Answer> {
  return world.sim('POST', '/scan', { organization_id: organization.id, instance, number })
}
