import type { TextsOf } from './step-text.js'

/** What is found of the registration. */
export const REGISTERED_TEXTS: TextsOf<'registered'> = {
  registered_right: { sentence: 'O número está registrado ({status})' },
  registered_now: { sentence: 'O número foi registrado. Anote o PIN: ele não é guardado aqui' },
  registered_unread: {
    sentence: 'O WhatsApp não diz se o número está registrado',
    remedy: 'Se os envios falharem com 133010, registre-o à mão',
  },
  number_restricted: {
    sentence: 'O número chegou ao seu limite de 24 horas (RESTRICTED): recebe e responde, e não inicia conversas',
    remedy: 'Espere até que o limite recomece',
  },
  number_banned: {
    sentence: 'O WhatsApp baniu o número: não envia nem recebe',
    remedy: 'Peça uma análise na Central de suporte para empresas',
  },
  pin_missing: {
    sentence: 'O número não está registrado ({status})',
    remedy:
      'Informe um PIN de seis dígitos: um novo, que você anota, ou o da confirmação em duas etapas, se ela está ativa',
  },
  name_needs_registration: {
    sentence: 'Um novo nome foi aprovado, e aparece quando o número é registrado de novo',
    remedy: 'Informe o PIN da confirmação em duas etapas em até 14 dias; depois, o nome é analisado de novo',
  },
  not_registered: {
    sentence: 'O número não está registrado ({status}): não envia nem recebe',
    remedy: 'Conecte o número de novo e informe um PIN',
  },
  pin_wrong: {
    sentence: 'O número tem outro PIN ({text})',
    remedy: 'Mude-o no Gerenciador do WhatsApp, Números de telefone, Confirmação em duas etapas; não adivinhe',
  },
  pin_blocked: {
    sentence: 'Foram tentados PINs demais ({text})',
    remedy: 'Espere o tempo indicado e informe o PIN certo',
  },
  number_unverified: {
    sentence: 'O número precisa ser verificado de novo antes do registro ({text})',
    remedy:
      'Desative a confirmação em duas etapas no Gerenciador do WhatsApp, verifique o número por SMS e conecte de novo',
  },
  registration_blocked: {
    sentence: 'O número foi registrado dez vezes em 72 horas e está bloqueado por 72 horas ({text})',
    remedy: 'Espere e conecte de novo uma vez',
  },
  registration_too_soon: {
    sentence: 'O número acabou de ser excluído do app do celular ({text})',
    remedy: 'Espere cinco minutos e conecte de novo',
  },
  registration_needs_name: {
    sentence: 'O nome ainda está em análise, e por isso o número não pode ser registrado ({text})',
    remedy: 'Espere a análise, ou mude o nome no Gerenciador do WhatsApp, e conecte de novo',
  },
  registration_refused: {
    sentence: 'O WhatsApp recusou registrar o número ({text})',
    remedy: 'Procure o erro na documentação',
  },
  registration_unavailable: {
    sentence: 'O WhatsApp não respondeu ao registro ({text})',
    remedy: 'Conecte de novo: se o número estiver registrado, o PIN não é pedido',
  },
}
