import type { AudienceCount } from './audience.js'
import type { RejectedRow } from './uploaded-audience.js'

/** A list of recipients that was read and not stored. */
export interface ReadList {
  recipients: number
  rejected: number
  /** The first rejected rows. */
  errors: RejectedRow[]
  /** The fields that have a column, such as `bodyParameters.discount`. */
  columns: string[]
  /** The headings that are not known. */
  ignored: string[]
  /** The first recipient; null if there is none. */
  first: {
    chatNumber: string
    name?: string | null
    bodyParameters?: Record<string, string> | null
    buttonParameters?: Record<string, string> | null
  } | null
  /** Whom a broadcast to them would reach. */
  reach: AudienceCount
}
