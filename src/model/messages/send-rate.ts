export interface RateLimitedNumber {
  phoneNumberId: string
  /** 0: unlimited. */
  messagesPerSecond: number
}

/** A send slot that begins in `waitMs`; if it is not reserved, it would begin too late. */
export interface SendSlot {
  reserved: boolean
  waitMs: number
}

/**
 * Reserves the next send slot of a business number, shared by all processes. `maxWaitMs`: how soon it must begin at
 * least; default: soon enough for a request.
 */
export type ReserveSendSlot = (
  organizationId: string,
  number: RateLimitedNumber,
  maxWaitMs?: number,
) => Promise<SendSlot>
