import type { Examples } from '../../http/description/examples.js'

export const examples: Examples = {}
