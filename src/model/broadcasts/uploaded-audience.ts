import type { Sentence } from '../sentence.js'

/** A list of recipients that was uploaded as a file. */
export interface UploadedAudience {
  organization_id: string
  id: string
  name: string | null
  recipients: number
  rejected: number
  /** The first rejected rows. */
  errors: RejectedRow[]
  /** The names of the parameters that recipients have. */
  body_parameters: string[]
  button_parameters: string[]
  created_at: Date
  expires_at: Date
  /** The size of the file. */
  bytes: number
}

/** A row of the file that is no recipient; `error` and `message` as in an answer of the API. */
export interface RejectedRow {
  /** As a spreadsheet or an editor counts: the first line is 1, blank ones count. */
  row: number
  error: string
  message: string
  /** The beginning of the text that the error is about. */
  value?: string
  /** Only of rows that the console reads; it is not stored. */
  sentence?: Sentence | undefined
}

/** The audience as the API shows it. */
export function presentUploadedAudience(audience: UploadedAudience) {
  return {
    id: audience.id,
    name: audience.name,
    recipients: audience.recipients,
    rejected: audience.rejected,
    errors: audience.errors,
    bodyParameters: audience.body_parameters,
    buttonParameters: audience.button_parameters,
    created_at: audience.created_at.toISOString(),
    expires_at: audience.expires_at.toISOString(),
  }
}
