import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { fillText } from '../../../model/templates/template.js'
import { readSentInteractive } from './read-sent-interactive.js'

/** A message that the upstream's agent sent, as if it had been received from who got it. */
export interface AgentEcho {
  message: JsonObject
  /** Of a kind that is only sent: its text and content as Parley stores them. */
  sent: { text: string; content: unknown } | null
}

/** What a change reports of the conversations that the upstream's agent holds. */
export interface Standby {
  /** Messages of contacts and statuses, in the form of the field `messages`. */
  received: JsonObject
  echoes: AgentEcho[]
}

/** Reads a change of the field `standby`. */
export function readStandby(value: JsonObject): Standby {
  const { contacts, messages, statuses, message_echoes } = asObject(value.standby)
  return { received: { contacts, messages, statuses }, echoes: asObjects(message_echoes).map(readEcho) }
}

/** `message` is the body of the send, word for word; `template` is the template as it is defined. */
function readEcho({ id, timestamp, message, template }: JsonObject): AgentEcho {
  const { to, recipient, ...sent } = asObject(message)
  const read = { ...sent, id, timestamp, from: to, from_user_id: recipient }
  if (sent.type === 'template')
    return { message: read, sent: describeTemplate(asObject(sent.template), asObject(template)) }
  if (sent.type !== 'interactive') return { message: read, sent: null }
  const interactive = asObject(sent.interactive)
  const text = asText(asObject(interactive.body).text) ?? ''
  return { message: read, sent: { text, content: readSentInteractive(interactive) } }
}

function describeTemplate(sent: JsonObject, defined: JsonObject): { text: string; content: unknown } {
  const name = asText(sent.name) ?? asText(defined.name) ?? ''
  const language = asText(asObject(sent.language).code) ?? asText(defined.language) ?? ''
  const body = componentOf(defined, 'BODY')
  const text = fillText(asText(body.text) ?? `[${name}]`, readValues(componentOf(sent, 'BODY')))
  return { text, content: { name, language, footer: asText(componentOf(defined, 'FOOTER').text), buttons: [] } }
}

function componentOf({ components }: JsonObject, type: string): JsonObject {
  return asObjects(components).find((one) => asText(one.type)?.toUpperCase() === type) ?? {}
}

/** The values by the names of the variables; a variable without a name has its position, from 1. */
function readValues({ parameters }: JsonObject): Map<string, string> {
  const values = asObjects(parameters).map((parameter, index): [string, string | null] => {
    const fallback = asText(asObject(parameter[asText(parameter.type) ?? '']).fallback_value)
    return [asText(parameter.parameter_name) ?? String(index + 1), asText(parameter.text) ?? fallback]
  })
  return new Map(values.filter((one): one is [string, string] => one[1] !== null))
}
