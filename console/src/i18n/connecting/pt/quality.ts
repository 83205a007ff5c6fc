import type { TextsOf } from './step-text.js'

/** What is found of the quality. */
export const QUALITY_TEXTS: TextsOf<'quality'> = {
  quality_good: { sentence: 'A qualidade é {quality}' },
  quality_low: {
    sentence: 'A qualidade é {quality}: as pessoas bloqueiam ou denunciam as mensagens',
    remedy: 'Envie menos marketing, e só a quem quer',
  },
}
