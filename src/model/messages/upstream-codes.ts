import { CONNECT_GUIDE } from '../guides.js'

/** What an error of the upstream means for the one who set the number up, and the page that has the cure. */
export interface CodeExplanation {
  /** What to do. */
  remedy: string
  /** A section of docs/connect-a-number.md. */
  link: string
}

const TOKEN = {
  remedy: 'Generate the access token again with both WhatsApp permissions, and connect the number again',
  link: `${CONNECT_GUIDE}#the-token`,
}

/** The errors that the setup of a number causes, by the upstream's code. */
export const EXPLAINED_CODES: Readonly<Record<number, CodeExplanation>> = {
  10: TOKEN,
  190: {
    remedy: 'Give a valid access token; that of a system user does not have to end',
    link: `${CONNECT_GUIDE}#3-create-a-token-that-lasts`,
  },
  200: TOKEN,
  368: { remedy: 'Ask for a review in Business support home', link: `${CONNECT_GUIDE}#sending` },
  131005: TOKEN,
  131030: {
    remedy:
      "Add the recipient to the test number's list in the App Dashboard, in both forms if the country has two, or use a number of your own",
    link: `${CONNECT_GUIDE}#sending`,
  },
  131031: { remedy: 'Ask for a review in Business support home', link: `${CONNECT_GUIDE}#sending` },
  131037: { remedy: 'Wait until the display name is approved', link: `${CONNECT_GUIDE}#your-own-number` },
  131042: { remedy: 'Add a payment method to the business account itself', link: `${CONNECT_GUIDE}#your-own-number` },
  131047: {
    remedy: 'Send a template: the person has not written within the last 24 hours',
    link: `${CONNECT_GUIDE}#6-receive-and-send`,
  },
  131058: {
    remedy: 'Send a template of your own: hello_world is for test numbers',
    link: `${CONNECT_GUIDE}#6-receive-and-send`,
  },
  133010: { remedy: 'Register the number: connect it again, and give a PIN', link: `${CONNECT_GUIDE}#registration` },
}

/** The errors that are about the number, its account or its token, and not about one message or person. */
const CODES_OF_NUMBER = new Set([10, 190, 200, 368, 131005, 131031, 131037, 131042, 133010])

/** Whether an error code of the upstream says that the number, its account or its token is restricted or has ended. */
export function isAboutNumber(code: number | string): boolean {
  return CODES_OF_NUMBER.has(Number(code))
}

/** How the upstream says that an id is not that of a number, or that the token does not open it. */
const UNKNOWN_ID = /Object with ID '[^']*' does not exist/
/** Its code, which other wrong parameters have, too. */
const INVALID_PARAMETER = 100

const WRONG_ID: CodeExplanation = {
  remedy: 'Check that the phone number id is not the number itself, and that the system user has its account',
  link: `${CONNECT_GUIDE}#the-token`,
}

/** The explanation of an upstream's error by its code and text; null if the setup is not its cause. */
export function explainCode(code: number | string, text: string): CodeExplanation | null {
  if (Number(code) === INVALID_PARAMETER) return UNKNOWN_ID.test(text) ? WRONG_ID : null
  return EXPLAINED_CODES[Number(code)] ?? null
}

/** A text with what to do about the code, if that is known. */
export function withRemedy(text: string, code: number | string): string {
  const explained = explainCode(code, text)
  return explained === null ? text : `${text.replace(/[.\s]+$/, '')}. ${explained.remedy} (${explained.link})`
}
