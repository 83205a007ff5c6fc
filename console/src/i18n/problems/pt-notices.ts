import type { NOTICE_SENTENCES } from '../../../../src/model/organizations/notice-sentences.js'

/** What WhatsApp reports about the account and its numbers, and what to do, in Portuguese. */
export const notices: Record<keyof typeof NOTICE_SENTENCES, string> = {
  notice: 'O WhatsApp informa {what}',
  notice_unknown: 'O WhatsApp envia “{field}”, que esta versão do Parley não conhece',
  notice_restricted: 'O WhatsApp restringiu a conta{after}',
  notice_violation: 'O WhatsApp informa uma violação{after}',
  notice_reinstated: 'O WhatsApp reativou a conta',
  notice_disabled: 'O WhatsApp desativou a conta',
  notice_will_disable: 'O WhatsApp vai desativar a conta{after}',
  notice_deleted: 'A conta foi excluída',
  notice_disconnected: 'O número não está mais conectado{after}',
  notice_reconnected: 'O número está conectado de novo',
  notice_alert: 'O WhatsApp alerta{after}',
  notice_rejected: 'O WhatsApp recusou a conta',
  notice_reviewed: 'O WhatsApp analisou a conta{after}',
  notice_limit: 'O limite de conversas que podem ser iniciadas por dia agora é {limit}',
  notice_quality: 'A qualidade de {number} está baixa',
  notice_faster: '{number} agora pode enviar mais rápido',
  notice_name_approved: 'O WhatsApp aprovou o nome “{name}”',
  notice_name_rejected: 'O WhatsApp recusou o nome “{name}”{after}',
  notice_username: 'O WhatsApp informa sobre o nome de usuário de {number}{after}',
  notice_call_settings: 'As configurações de chamadas foram alteradas',
  notice_pin_reset: 'Alguém pediu para desativar o PIN de {number}',
  notice_pin_changed: 'O PIN de {number} foi alterado',
  advice_unread:
    'O Parley não lê esses callbacks e os exclui depois dos dias em que callbacks são guardados (30 por padrão).',
  advice_look: 'Abra a conta no Gerenciador do WhatsApp.',
  advice_appeal: 'Abra a conta no Gerenciador do WhatsApp e peça uma análise se isso estiver errado.',
  advice_refused:
    'Até acabar, o que ela indica é recusado. Abra a conta no Gerenciador do WhatsApp e peça uma análise se isso estiver errado.',
  advice_connect_other: 'Conecte outra conta.',
  advice_connect_again: 'Se você não o conectou de novo desde então, conecte-o de novo.',
  advice_send_less: 'Envie menos, e só a quem espera suas mensagens: o limite do número pode ser reduzido.',
  advice_other_name: 'Escolha outro nome no Gerenciador do WhatsApp.',
  advice_access: 'Se não foi ninguém da sua equipe, verifique quem tem acesso à conta.',
}
