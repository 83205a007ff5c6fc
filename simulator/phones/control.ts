import type { FastifyInstance } from 'fastify'
import type { JsonObject } from '../../src/lib/text/json.js'
import type { Context } from '../context.js'
import { type Answer, withBody } from '../control/answer.js'
import { invalidField, isProblem } from '../control/problems.js'
import { networkId, phoneDigits } from '../numbers/phone-numbers.js'
import { newPairingCode, newQrText } from './codes.js'
import { findPhone, notOpen, type Phone, publicPhone, readCommand, readOwner, unlinked } from './phone.js'
import { scan } from './scan.js'

const maxCommands = 100
const maxNumbers = 1_000
/** The upstream's code for a message that cannot be delivered. */
const undeliverable = 131026

type Handler = (phone: Phone, body: JsonObject, context: Context) => Answer | Promise<Answer>

const handlers: Record<string, Handler> = {
  '/phones/connect': connect,
  '/phones/logout': logout,
  '/phones/command': recordCommand,
  '/phones/check': check,
  '/scan': scan,
}

/** The control endpoints of the phones of SANDBOX instances. */
export function phonesControl(app: FastifyInstance, context: Context): void {
  app.get('/phones', () => ({ success: true, phones: Array.from(context.phones.values(), publicPhone) }))
  for (const [path, handle] of Object.entries(handlers)) {
    app.post(path, (request, reply) =>
      withBody(request, reply, (body) => {
        const phone = findPhone(context.phones, body)
        return isProblem(phone) ? phone : handle(phone, body, context)
      }),
    )
  }
}

/** Shows a new code; a linked phone stays unchanged. */
function connect(phone: Phone, body: JsonObject): Answer {
  const owner = readOwner(body)
  if (isProblem(owner)) return owner
  if (phone.state !== 'open') {
    phone.state = 'connecting'
    phone.code = newQrText()
    phone.pairing_code = owner.number === null ? null : newPairingCode()
    phone.pairing_number = owner.number
    phone.count += 1
  }
  const { state, code, pairing_code, count } = phone
  return { success: true, state, code, pairing_code, count }
}

function logout(phone: Phone): Answer {
  Object.assign(phone, unlinked)
  return { success: true, state: phone.state }
}

/** Records a command for inspection; it has no effect. */
function recordCommand(phone: Phone, body: JsonObject): Answer {
  const command = readCommand(body)
  if (isProblem(command)) return command
  if (phone.state !== 'open') return notOpen(phone)
  phone.commands = [...phone.commands, { at: new Date().toISOString(), command }].slice(-maxCommands)
  return { success: true }
}

/** Reports which numbers have an account: all except those set to fail as undeliverable. */
function check(phone: Phone, { numbers }: JsonObject, { failures }: Context): Answer {
  if (!Array.isArray(numbers) || numbers.length > maxNumbers || numbers.some((one) => typeof one !== 'string')) {
    return invalidField(`numbers must be an array of at most ${maxNumbers} strings`)
  }
  if (phone.state !== 'open') return notOpen(phone)
  const checked = numbers.map((number: string) => {
    const digits = phoneDigits(number)
    const id = digits === null ? null : networkId(digits)
    const exists = id !== null && !id.endsWith('000001') && failures.get(id)?.code !== undeliverable
    return { number, exists, wa_id: id }
  })
  return { success: true, numbers: checked }
}
