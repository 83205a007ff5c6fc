import type { CallbackContent } from '../callbacks/batches.js'
import type { Context } from '../context.js'
import type { BusinessNumber } from '../numbers/business-numbers.js'
import { isRegistered } from './world.js'

/**
 * Where a callback of a number goes: the number with each address and the secret that signs there. Empty if it is
 * reported to nobody. A number outside of the world has the address that its service registered.
 */
export function destinationsOf(
  { numbers, world }: Pick<Context, 'numbers' | 'world'>,
  phoneNumberId: string,
  content: CallbackContent,
): BusinessNumber[] {
  const number = numbers.get(phoneNumberId)
  if (!number) return []
  const state = world.numbers.get(phoneNumberId)
  const account = world.accountOf(phoneNumberId)
  if (!state || !account) return [number]
  if (!isRegistered(state)) return []
  const field = content.kind === 'change' ? content.change.field : 'messages'
  return Array.from(account.subscriptions).flatMap(([appId, override]) => {
    const app = world.apps.get(appId)
    if (!app?.published || !app.fields.includes(field)) return []
    const url = followsOverride(field) ? (state.override ?? override ?? app.callback_url) : app.callback_url
    return url === null ? [] : [{ ...number, app_secret: app.secret, callback_url: url }]
  })
}

/** Reports on templates and on the account always go to the app's own address. */
function followsOverride(field: string): boolean {
  if (field === 'account_settings_update') return true
  return !field.startsWith('message_template_') && !field.startsWith('account_')
}
