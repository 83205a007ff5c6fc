import type { TextsOf } from './step-text.js'

/** What is found of the display name. */
export const NAME_TEXTS: TextsOf<'name'> = {
  name_approved: { sentence: 'O nome exibido é {name}' },
  name_in_review: {
    sentence: 'O nome está em análise: até ser aprovado, as pessoas veem o número',
    remedy: 'Espere a análise',
  },
  name_declined: {
    sentence: 'O nome foi recusado',
    remedy: 'Escolha outro no Gerenciador do WhatsApp, Números de telefone',
  },
  new_name_in_review: {
    sentence: 'Um novo nome está em análise; até ser aprovado, as pessoas veem {name}',
    remedy: 'Espere a análise',
  },
  new_name_declined: {
    sentence: 'Um novo nome foi recusado; as pessoas veem {name}',
    remedy: 'Escolha outro no Gerenciador do WhatsApp, Números de telefone',
  },
  name_other: {
    sentence: 'A situação do nome é {status}',
    remedy: 'Veja no Gerenciador do WhatsApp, Números de telefone',
  },
}
