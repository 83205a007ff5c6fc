import { type Refusal, refusals } from '../errors/refusals.js'
import { type AccountCall, refuseAddress } from './call.js'
import { callbackObject, type SimulatedApp } from './world.js'

/** The addresses that an app has set; only its own token may ask. */
export function readSubscriptions(call: AccountCall): object | Refusal {
  const app = openApp(call)
  if ('body' in app) return app
  if (app.callback_url === null) return { data: [] }
  const fields = app.fields.map((name) => ({ name, version: 'v23.0' }))
  return { data: [{ object: callbackObject, callback_url: app.callback_url, active: true, fields }] }
}

/** Sets an app's address and fields, in place of those before. */
export async function setSubscription(call: AccountCall): Promise<object | Refusal> {
  const app = openApp(call)
  if ('body' in app) return app
  const { object, callback_url, verify_token, fields } = call.body
  if (object !== callbackObject) return refusals.invalidParameter(`Param object must be one of {${callbackObject}}.`)
  const names = Array.isArray(fields) ? fields.map(String) : typeof fields === 'string' ? fields.split(',') : []
  if (names.length === 0) return refusals.invalidParameter('The parameter fields is required.')
  const refused = await refuseAddress(call.context, callback_url, verify_token)
  if (refused) return refused
  app.callback_url = String(callback_url)
  app.fields = names
  return { success: true }
}

function openApp({ caller, id, method }: AccountCall): SimulatedApp | Refusal {
  if (caller.kind !== 'app') return refusals.needsAppToken()
  return caller.app.id === id ? caller.app : refusals.unknownObject(method, id)
}
