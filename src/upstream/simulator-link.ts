import { request } from 'undici'

/** Where a simulator takes orders. */
export interface SimulatorControl {
  /** Such as http://127.0.0.1:9000/_sim. */
  controlUrl: string
  token: string | null
}

/** A business number as the simulator has to know it. */
export interface SimulatedNumber {
  phoneNumberId: string
  businessAccountId: string
  accessToken: string
  appSecret: string
}

/** What is no simulator may not answer at all. */
const ANSWER_TIMEOUT_MS = 2_000

/** Tells a simulator of a number and of where its callbacks go (contract 6). Throws when the simulator does not take it. */
export async function registerWithSimulator(
  { controlUrl, token }: SimulatorControl,
  number: SimulatedNumber,
  callbackUrl: string,
): Promise<void> {
  const { statusCode, body } = await request(`${controlUrl}/numbers/${encodeURIComponent(number.phoneNumberId)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({
      business_account_id: number.businessAccountId,
      access_token: number.accessToken,
      app_secret: number.appSecret,
      callback_url: callbackUrl,
    }),
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  })
  const text = await body.text()
  if (statusCode !== 200)
    throw new Error(`the simulator refused the number (HTTP ${statusCode}): ${text.slice(0, 200)}`)
}
