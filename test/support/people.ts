import { receiveMessages, type WireMessage } from './callbacks.js'
import { conversation } from './conversations.js'
import type { Answer, TestOrganization, World } from './world.js'

/** People who write to an organization's number. */
export interface People {
  /** Digits of a new person. */
  newNumber(): string
  newUserId(): string
  /** Receives messages one after the other, and processes each before the next. */
  take(...messages: WireMessage[]): Promise<void>
  /** The texts of a conversation, newest first. */
  texts(chatNumber: string): Promise<string[]>
  send(phoneNumber: string): Promise<Answer>
  /** The last message that the upstream received. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  lastSend(): Promise<any>
}

/** The people of the organization that `on` returns. */
export function peopleOf(on: () => { world: World; organization: TestOrganization }): People {
  let people = 0
  return {
    newNumber: () => `1650555${String(++people).padStart(4, '0')}`,
    newUserId: () => `US.23491208655302${String(++people).padStart(4, '0')}`,
    take: async (...messages) => {
      const { world, organization } = on()
      for (const message of messages) await receiveMessages(world, organization, message)
    },
    texts: async (chatNumber) => {
      const { world, organization } = on()
      const { body } = await conversation(world, organization, chatNumber)
      return body.messages.map(({ message }: { message: string }) => message)
    },
    send: (phone_number) => {
      const { world, organization } = on()
      const body = { phone_number, message_type: 'text', text: 'hello' }
      return world.request('POST', '/send-chat', { key: organization.key, body })
    },
    lastSend: async () => {
      const { world, organization } = on()
      const { body } = await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}`)
      return body.messages.at(-1).payload
    },
  }
}
