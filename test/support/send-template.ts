import { expect } from 'vitest'
import { createContact } from './contacts.js'
import { conversation } from './conversations.js'
import { type HttpServer, startHttpServer } from './http-server.js'
import { docx, jpeg, mp4, pdf, png } from './media.js'
import { requestAsDescribed } from './openapi.js'
import { type Answer, startWorld, type TestOrganization, type World } from './world.js'

/** The files of the test's web server, by the first part of the path. */
export const FILES = { jpeg, png, mp4, pdf, docx }

/** Brazilian numbers with these area codes have one form only. */
const FIRST_AREA = 11

/** A template in the upstream's account; only the body is required. */
export interface GivenTemplate {
  name: string
  body: string
  language?: string
  category?: string
  status?: string
  header?: object
  footer?: string
  buttons?: object[]
  /** Further components. */
  others?: object[]
}

/** A world with an organization that sends templates, and a web server with header files. */
export interface TemplateWorld {
  world: World
  organization: TestOrganization
  files: HttpServer
  /** The URL of a file; the rest of the path after its kind is arbitrary. */
  fileUrl(kind: keyof typeof FILES, rest?: string): string
  /** Digits of an unused valid Brazilian number; the last ones may be given. */
  newNumber(magic?: string): string
  /** A new contact of the organization; its digits. */
  newContact(fields?: object, owner?: TestOrganization): Promise<string>
  /** A contact whose number ends in the magic digits. */
  newMagicContact(magic: string, fields?: object): Promise<string>
  /** Adds a template to the organization's account at the upstream. */
  putTemplate(template: GivenTemplate, owner?: TestOrganization): Promise<void>
  send(body: unknown, idempotencyKey?: string, owner?: TestOrganization): Promise<Answer>
  /** Sends a template, which must succeed; resolves to the template that the upstream received. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  sent(body: Record<string, unknown>): Promise<any>
  /** What arrived at the upstream for the recipient, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  arrived(digits: string): Promise<any[]>
  /** The conversation, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  shown(digits: string): Promise<any[]>
  /** Sends a GET request to Interface A as the organization. */
  read(path: string, owner?: TestOrganization): Promise<Answer>
  /** Checks that nothing was sent to or recorded for the recipient. */
  expectNothingSent(digits: string): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a world for templates, without statuses. `env`: additional PARLEY_* settings; `fields`: of the organization.
 */
export async function startTemplateWorld(
  env: Record<string, string> = {},
  fields: Record<string, unknown> = {},
): Promise<TemplateWorld> {
  const world = await startWorld(env)
  const request = requestAsDescribed(world)
  const files = await startHttpServer(({ path }, response) => {
    const kind = path.split('/')[1] ?? ''
    if (!Object.hasOwn(FILES, kind)) return void response.writeHead(404).end()
    response.writeHead(200).end(FILES[kind as keyof typeof FILES]())
  })
  await world.sim('POST', '/settings', { statuses: false })
  const organization = await world.createOrganization({ language: 'pt_BR', default_country: 'BR', ...fields })
  let people = 0

  const newNumber = (magic = '555555') => {
    const n = people++
    return `55${FIRST_AREA + Math.floor(n / 80)}9${20 + (n % 80)}${magic}`
  }
  const newMagicContact = async (magic: string, contact: object = {}, owner = organization) => {
    const digits = newNumber(magic)
    await createContact(world, owner, `+${digits}`, contact)
    return digits
  }
  const send: TemplateWorld['send'] = (body, idempotencyKey, owner = organization) => {
    const headers: Record<string, string> = {}
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
    return request('POST', '/send-template', { key: owner.key, body, headers })
  }
  const arrived = async (digits: string) => (await world.sim('GET', `/messages?to=${digits}`)).body.messages
  const shown = async (digits: string) => (await conversation(world, organization, digits)).body.messages ?? []
  return {
    world,
    organization,
    files,
    fileUrl: (kind, rest = 'file') => `${files.url}/${kind}/${rest}`,
    newNumber,
    newContact: (contact, owner) => newMagicContact('555555', contact, owner),
    newMagicContact,
    putTemplate: async ({ name, body, header, footer, buttons, others = [], ...rest }, owner = organization) => {
      const components = [
        ...(header ? [{ type: 'HEADER', ...header }] : []),
        { type: 'BODY', text: body },
        ...(footer ? [{ type: 'FOOTER', text: footer }] : []),
        ...(buttons ? [{ type: 'BUTTONS', buttons }] : []),
        ...others,
      ]
      const template = { name, language: 'pt_BR', category: 'UTILITY', components, ...rest }
      const put = await world.sim('PUT', '/templates', { phone_number_id: owner.phoneNumberId, template })
      expect(put.status, JSON.stringify(put.body)).toBe(200)
    },
    send,
    sent: async (body) => {
      const answer = await send(body)
      expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ success: true })
      const { body: listed } = await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}&limit=1`)
      return listed.messages[0].payload.template
    },
    arrived,
    shown,
    read: (path, owner = organization) => world.request('GET', path, { key: owner.key }),
    expectNothingSent: async (digits) => {
      expect(await arrived(digits)).toEqual([])
      expect(await shown(digits)).toEqual([])
    },
    close: async () => {
      await world.close()
      await files.close()
    },
  }
}

/** Checks the status and the error name of an answer; resolves to its message. */
export function expectRefusal({ status, body }: Answer, error: string, code = 400): string {
  expect({ status, success: body.success, error: body.error }, JSON.stringify(body)).toEqual({
    status: code,
    success: false,
    error,
  })
  return body.message
}
