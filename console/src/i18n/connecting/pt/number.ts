import { AGAIN } from './remedies.js'
import type { TextsOf } from './step-text.js'

/** What is found when the number is looked for. */
export const NUMBER_TEXTS: TextsOf<'number'> = {
  number_found: { sentence: '{number}, {name}, na conta comercial {account}' },
  test_number: {
    sentence: '{number} é um número de teste: só escreve aos destinatários da sua lista, no máximo cinco',
    remedy: 'Adicione seu telefone à lista no painel de apps, ou um número próprio',
  },
  number_choice: { sentence: 'O token de acesso alcança {count} números', remedy: 'Escolha um' },
  number_other: {
    sentence: 'O token de acesso não alcança o número conectado {connected}; alcança {count} outros',
    remedy: 'Informe um token que o alcance, ou escolha o que deve tomar o seu lugar',
  },
  account_unknown: {
    sentence: 'O WhatsApp não informa nenhuma conta comercial que o token abra',
    remedy:
      'Atribua a conta do WhatsApp e o app ao usuário do sistema e gere o token de novo, ou informe o ID da conta comercial',
  },
  no_number: {
    sentence: 'A conta comercial {accounts} não tem número',
    remedy: 'Adicione um no Gerenciador do WhatsApp',
  },
  number_unreached: {
    sentence: 'O token de acesso não alcança o número {number} na conta comercial {accounts}',
    remedy: 'Informe o ID do número, não o próprio número, e atribua a conta do WhatsApp ao usuário do sistema',
  },
  account_refused: {
    sentence: 'O token de acesso não abre a conta comercial {accounts} ({text})',
    remedy: 'Confira se é o ID da conta do WhatsApp, e não o do portfólio, e atribua a conta ao usuário do sistema',
  },
  number_refused: {
    sentence: 'O token de acesso não abre o número {number} ({text})',
    remedy: 'Atribua a conta do WhatsApp ao usuário do sistema e gere o token de novo',
  },
  number_unavailable: { sentence: 'Não foi possível perguntar ao WhatsApp sobre o número ({text})', remedy: AGAIN },
}
