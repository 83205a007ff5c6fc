import { expect } from 'vitest'
import { readConversations } from '../../../support/conversations.js'
import { type MessageWorld, startMessageWorld } from '../../../support/gateway-messages.js'
import { createInstance, type TestInstance } from '../../../support/instances.js'
import type { Answer } from '../../../support/world.js'

/** The world of messages, with requests about chats. */
export interface ChatWorld extends MessageWorld {
  /** An instance of another organization with the same name as one of this organization. */
  foreign: TestInstance
  /** Another instance of the organization. */
  second: TestInstance
  /** By default a POST with the organization's key. */
  chat(verb: string, instance: string, body?: unknown, by?: { method?: string; key?: string }): Promise<Answer>
  /** Sends a text; resolves to its id at the upstream. */
  sendText(instance: string, number: string, text: string): Promise<string>
  /**
   * A person writes to an instance (`phone`) or to the organization's number (`shop`). Resolves to the message's id.
   */
  receive(instance: string, from: string, message: Record<string, unknown>): Promise<string>
  /** The texts of a conversation as Interface A shows them, oldest first. */
  conversation(number: string): Promise<string[]>
}

/** Starts the world. */
export async function startChatWorld(): Promise<ChatWorld> {
  const on = await startMessageWorld()
  const { world, organization, other } = on
  const foreign = await createInstance(world, other, { instanceName: 'phone', integration: 'SANDBOX' })
  const second = await createInstance(world, organization, { instanceName: 'second', integration: 'SANDBOX' })
  return {
    ...on,
    foreign,
    second,
    chat: (verb, instance, body, { method = 'POST', key = organization.key } = {}) =>
      world.request(method, `/gateway/chat/${verb}/${instance}`, { key, body }),
    sendText: async (instance, number, text) => {
      const { status, body } = await on.send('sendText', instance, { number, text })
      expect(status, JSON.stringify(body)).toBe(201)
      return body.key.id
    },
    receive: async (instance, from, message) => {
      const to =
        instance === 'shop'
          ? { phone_number_id: organization.phoneNumberId }
          : { organization_id: organization.id, instance }
      const { status, body } = await world.sim('POST', '/inbound', { ...to, from, ...message })
      expect(status, JSON.stringify(body)).toBe(200)
      await world.settle()
      const found = await readConversations(world, organization, { chatNumber: from, limit: '1' })
      return found.body.messages[0].message_id
    },
    conversation: async (number) => {
      const { body } = await readConversations(world, organization, { chatNumber: number, ascending: 'true' })
      return body.messages.map(({ message }: { message: string }) => message)
    },
  }
}

/** A received text. */
export const text = (body: string) => ({ type: 'text', text: { body } })

/** The texts in a response of findMessages, in its order. */
export function textsOf({ body }: Answer): string[] {
  return body.messages.records.map((one: { message: { conversation: string } }) => one.message.conversation)
}
