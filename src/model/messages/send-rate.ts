/** A business number with the rate at which the upstream takes messages from it. */
export interface RateLimitedNumber {
  phoneNumberId: string
  /** 0 = as many as come. */
  messagesPerSecond: number
}

/** Whether a message may leave, in `waitMs`; or that its turn would come too late, in `waitMs`. */
export interface SendSlot {
  reserved: boolean
  waitMs: number
}

/** Gives the messages of a business number their turns, over all processes. */
export type ReserveSendSlot = (organizationId: string, number: RateLimitedNumber) => Promise<SendSlot>
