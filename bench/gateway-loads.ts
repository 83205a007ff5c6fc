import { anyNumber } from './data.js'
import { type BenchInstance, makeOpenSandbox } from './gateway-instances.js'
import { type NextRequest, post } from './loads.js'
import type { World } from './world.js'

type Named = Pick<BenchInstance, 'name'>

/** Sends a text to a random contact. */
export function gatewayTextLoad(key: string, { name }: Named): NextRequest {
  return () => sendText(key, name, anyNumber())
}

let sent = 0

/** Sends a text to a new number each time, which becomes a contact. */
export function gatewayNewContactLoad(key: string, { name }: Named): NextRequest {
  return () => {
    sent += 1
    return sendText(key, name, newContactNumber(sent))
  }
}

/** Requests the connection state. */
export function connectionStateLoad(key: string, { name }: Named): NextRequest {
  const request = `GET /gateway/instance/connectionState/${name} HTTP/1.1\r\nhost: bench\r\napikey: ${key}\r\n\r\n`
  return () => request
}

/** Searches messages of the instance. */
export function findMessagesLoad(key: string, { name }: Named, body: object): NextRequest {
  const request = post(`/gateway/chat/findMessages/${name}`, JSON.stringify(body), `apikey: ${key}\r\n`)
  return () => request
}

/** Texts from a simulated phone that is created for this load. */
export async function gatewayProfileLoad({ sandboxUrl, organization }: World, url: string): Promise<NextRequest> {
  const instance = await makeOpenSandbox({ url, sandboxUrl, organization }, 'profiled')
  return gatewayTextLoad(organization.key, instance)
}

function sendText(key: string, name: string, number: string): string {
  const message = { number, text: 'Your order has left our house today.' }
  return post(`/gateway/message/sendText/${name}`, JSON.stringify(message), `apikey: ${key}\r\n`)
}

/** A mobile of another region than the contacts'. None ends like a magic test number of the simulator. */
function newContactNumber(index: number): string {
  return `55219${60_000_000 + index * 10 + 7}`
}
