/** A business number with the rate at which the upstream takes messages from it. */
export interface PacedNumber {
  phoneNumberId: string
  /** 0 = as many as come. */
  messagesPerSecond: number
}

/** Whether a message may leave, in `waitMs`; or that its turn would come too late, in `waitMs`. */
export interface Turn {
  granted: boolean
  waitMs: number
}

/** Gives the messages of a business number their turns, over all processes. */
export type Pacer = (organizationId: string, number: PacedNumber) => Promise<Turn>
