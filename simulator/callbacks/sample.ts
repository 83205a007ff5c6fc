import { exchangeOnce } from '../../src/lib/http/exchange.js'
import { escapeJson, signBody } from './signing.js'

const timeoutMs = 5_000

/** Posts the sample of a message that the dashboard's button *Test* sends; the HTTP status, or null without an answer. */
export async function postSample(url: string, appSecret: string): Promise<number | null> {
  const body = escapeJson({ object: 'whatsapp_business_account', entry: [{ id: '0', changes: [sampleChange()] }] })
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signBody(appSecret, body) }
  try {
    const request = { method: 'POST', headers, body }
    return (await exchangeOnce(url, request, AbortSignal.timeout(timeoutMs))).statusCode
  } catch {
    return null
  }
}

/** Its entry, its number and its sender are the same in every sample, and belong to nobody. */
function sampleChange(): object {
  return {
    field: 'messages',
    value: {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '16505551111', phone_number_id: '123456123' },
      contacts: [{ profile: { name: 'test user name' }, wa_id: '16315551181' }],
      messages: [
        {
          from: '16315551181',
          id: 'ABGGFlA5Fpa',
          timestamp: '1504902988',
          type: 'text',
          text: { body: 'this is a text message' },
        },
      ],
    },
  }
}
