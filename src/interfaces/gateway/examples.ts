// biome-ignore-all format: recorded by test/interfaces/description/examples.test.ts; `npx vitest run -u` with it records again
import type { Examples } from '../../http/description/examples.js'

export const examples: Examples = {
 "instance.create": [
  {
   "name": "example",
   "body": {
    "instanceName": "shop",
    "integration": "WHATSAPP-BUSINESS"
   },
   "status": 201,
   "answer": {
    "instance": {
     "instanceName": "shop",
     "instanceId": "01a20000-0000-7000-8000-000000000001",
     "integration": "WHATSAPP-BUSINESS",
     "webhookWaBusiness": "https://parley.example/hooks/upstream",
     "accessTokenWaBusiness": "",
     "status": "open"
    },
    "hash": "TOKEN-OF-THE-INSTANCE",
    "webhook": {},
    "websocket": {},
    "rabbitmq": {},
    "nats": {},
    "sqs": {},
    "settings": {
     "rejectCall": false,
     "msgCall": "",
     "groupsIgnore": false,
     "alwaysOnline": false,
     "readMessages": false,
     "readStatus": false,
     "syncFullHistory": false,
     "wavoipToken": ""
    }
   }
  }
 ],
 "instance.connectionState": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "status": 200,
   "answer": {
    "instance": {
     "instanceName": "shop",
     "state": "open"
    }
   }
  }
 ],
 "settings.set": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "body": {
    "groupsIgnore": true
   },
   "status": 201,
   "answer": {
    "settings": {
     "instanceName": "shop",
     "settings": {
      "rejectCall": false,
      "msgCall": "",
      "groupsIgnore": true,
      "alwaysOnline": false,
      "readMessages": false,
      "readStatus": false,
      "syncFullHistory": false,
      "wavoipToken": ""
     }
    }
   }
  }
 ],
 "settings.find": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "status": 200,
   "answer": {
    "rejectCall": false,
    "msgCall": "",
    "groupsIgnore": true,
    "alwaysOnline": false,
    "readMessages": false,
    "readStatus": false,
    "syncFullHistory": false,
    "wavoipToken": ""
   }
  }
 ],
 "webhook.set": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "body": {
    "webhook": {
     "url": "https://shop.example/hooks/chat",
     "events": []
    }
   },
   "status": 201,
   "answer": {
    "id": "01a20000-0000-7000-8000-000000000002",
    "url": "https://shop.example/hooks/chat",
    "headers": {},
    "enabled": true,
    "events": [
     "APPLICATION_STARTUP",
     "QRCODE_UPDATED",
     "MESSAGES_SET",
     "MESSAGES_UPSERT",
     "MESSAGES_EDITED",
     "MESSAGES_UPDATE",
     "MESSAGES_DELETE",
     "SEND_MESSAGE",
     "SEND_MESSAGE_UPDATE",
     "CONTACTS_SET",
     "CONTACTS_UPSERT",
     "CONTACTS_UPDATE",
     "PRESENCE_UPDATE",
     "CHATS_SET",
     "CHATS_UPSERT",
     "CHATS_UPDATE",
     "CHATS_DELETE",
     "GROUPS_UPSERT",
     "GROUPS_UPDATE",
     "GROUP_UPDATE",
     "GROUP_PARTICIPANTS_UPDATE",
     "CONNECTION_UPDATE",
     "LABELS_EDIT",
     "LABELS_ASSOCIATION",
     "CALL",
     "TYPEBOT_START",
     "TYPEBOT_CHANGE_STATUS",
     "REMOVE_INSTANCE",
     "LOGOUT_INSTANCE",
     "INSTANCE_CREATE",
     "INSTANCE_DELETE",
     "STATUS_INSTANCE",
     "MESSAGING_HISTORY_SET",
     "NEW_JWT_TOKEN",
     "CHAMA_AI_ACTION"
    ],
    "webhookByEvents": false,
    "webhookBase64": false,
    "createdAt": "2026-03-02T09:00:00.000Z",
    "updatedAt": "2026-03-02T09:00:00.000Z",
    "instanceId": "01a20000-0000-7000-8000-000000000001",
    "secret": "whsec_EXAMPLE"
   }
  }
 ],
 "webhook.find": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "status": 200,
   "answer": {
    "id": "01a20000-0000-7000-8000-000000000002",
    "url": "https://shop.example/hooks/chat",
    "headers": {},
    "enabled": true,
    "events": [
     "APPLICATION_STARTUP",
     "QRCODE_UPDATED",
     "MESSAGES_SET",
     "MESSAGES_UPSERT",
     "MESSAGES_EDITED",
     "MESSAGES_UPDATE",
     "MESSAGES_DELETE",
     "SEND_MESSAGE",
     "SEND_MESSAGE_UPDATE",
     "CONTACTS_SET",
     "CONTACTS_UPSERT",
     "CONTACTS_UPDATE",
     "PRESENCE_UPDATE",
     "CHATS_SET",
     "CHATS_UPSERT",
     "CHATS_UPDATE",
     "CHATS_DELETE",
     "GROUPS_UPSERT",
     "GROUPS_UPDATE",
     "GROUP_UPDATE",
     "GROUP_PARTICIPANTS_UPDATE",
     "CONNECTION_UPDATE",
     "LABELS_EDIT",
     "LABELS_ASSOCIATION",
     "CALL",
     "TYPEBOT_START",
     "TYPEBOT_CHANGE_STATUS",
     "REMOVE_INSTANCE",
     "LOGOUT_INSTANCE",
     "INSTANCE_CREATE",
     "INSTANCE_DELETE",
     "STATUS_INSTANCE",
     "MESSAGING_HISTORY_SET",
     "NEW_JWT_TOKEN",
     "CHAMA_AI_ACTION"
    ],
    "webhookByEvents": false,
    "webhookBase64": false,
    "createdAt": "2026-03-02T09:00:00.000Z",
    "updatedAt": "2026-03-02T09:00:00.000Z",
    "instanceId": "01a20000-0000-7000-8000-000000000001"
   }
  }
 ],
 "message.sendText": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "body": {
    "number": "5511955554444",
    "text": "Hello"
   },
   "status": 201,
   "answer": {
    "key": {
     "remoteJid": "5511955554444@s.whatsapp.net",
     "fromMe": true,
     "id": "wamid.EXAMPLE1"
    },
    "pushName": "",
    "status": 201,
    "message": {
     "conversation": "Hello"
    },
    "contextInfo": null,
    "messageType": "conversation",
    "messageTimestamp": 1772442000,
    "instanceId": "01a20000-0000-7000-8000-000000000001",
    "source": "web",
    "error": false,
    "response": {
     "key": {
      "remoteJid": "5511955554444@s.whatsapp.net",
      "fromMe": true,
      "id": "wamid.EXAMPLE1"
     },
     "pushName": "",
     "status": "PENDING",
     "message": {
      "conversation": "Hello"
     },
     "contextInfo": null,
     "messageType": "conversation",
     "messageTimestamp": 1772442000,
     "instanceId": "01a20000-0000-7000-8000-000000000001",
     "source": "web"
    }
   }
  },
  {
   "name": "missing_text",
   "path": {
    "instance": "shop"
   },
   "body": {
    "number": "5511955554444"
   },
   "status": 400,
   "answer": {
    "status": 400,
    "error": "Bad Request",
    "response": {
     "message": [
      [
       "text is required and must not be empty"
      ]
     ]
    }
   }
  }
 ],
 "message.sendLocation": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "body": {
    "number": "5511955554444",
    "latitude": -23.55,
    "longitude": -46.63,
    "name": "Shop"
   },
   "status": 201,
   "answer": {
    "key": {
     "remoteJid": "5511955554444@s.whatsapp.net",
     "fromMe": true,
     "id": "wamid.EXAMPLE2"
    },
    "pushName": "",
    "status": 201,
    "message": {
     "locationMessage": {
      "degreesLatitude": -23.55,
      "degreesLongitude": -46.63,
      "name": "Shop"
     }
    },
    "contextInfo": null,
    "messageType": "locationMessage",
    "messageTimestamp": 1772442000,
    "instanceId": "01a20000-0000-7000-8000-000000000001",
    "source": "web",
    "error": false,
    "response": {
     "key": {
      "remoteJid": "5511955554444@s.whatsapp.net",
      "fromMe": true,
      "id": "wamid.EXAMPLE2"
     },
     "pushName": "",
     "status": "PENDING",
     "message": {
      "locationMessage": {
       "degreesLatitude": -23.55,
       "degreesLongitude": -46.63,
       "name": "Shop"
      }
     },
     "contextInfo": null,
     "messageType": "locationMessage",
     "messageTimestamp": 1772442000,
     "instanceId": "01a20000-0000-7000-8000-000000000001",
     "source": "web"
    }
   }
  }
 ],
 "chat.findMessages": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "body": {
    "where": {
     "key": {
      "remoteJid": "5511955554444@s.whatsapp.net"
     }
    },
    "offset": 1
   },
   "status": 200,
   "answer": {
    "messages": {
     "total": 2,
     "pages": 2,
     "currentPage": 1,
     "records": [
      {
       "id": "01a20000-0000-7000-8000-000000000003",
       "key": {
        "remoteJid": "5511955554444@s.whatsapp.net",
        "fromMe": true,
        "id": "wamid.EXAMPLE2"
       },
       "pushName": "",
       "message": {
        "locationMessage": {
         "degreesLatitude": -23.55,
         "degreesLongitude": -46.63,
         "name": "Shop"
        }
       },
       "contextInfo": null,
       "messageType": "locationMessage",
       "messageTimestamp": 1772442000,
       "instanceId": "01a20000-0000-7000-8000-000000000001",
       "source": "web",
       "MessageUpdate": [
        {
         "status": "SERVER_ACK"
        }
       ]
      }
     ]
    }
   }
  }
 ],
 "chat.findContacts": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "body": {
    "where": {
     "remoteJid": "5511955554444@s.whatsapp.net"
    }
   },
   "status": 200,
   "answer": [
    {
     "id": "01a20000-0000-7000-8000-000000000004",
     "remoteJid": "5511955554444@s.whatsapp.net",
     "pushName": null,
     "profilePicUrl": null,
     "createdAt": "2026-03-02T09:00:00.000Z",
     "updatedAt": "2026-03-02T09:00:00.000Z",
     "instanceId": "01a20000-0000-7000-8000-000000000001",
     "isGroup": false,
     "isSaved": false,
     "type": "contact"
    }
   ]
  }
 ],
 "instance.fetchInstances": [
  {
   "name": "example",
   "status": 200,
   "answer": [
    {
     "id": "01a20000-0000-7000-8000-000000000001",
     "name": "shop",
     "connectionStatus": "open",
     "ownerJid": null,
     "profileName": null,
     "profilePicUrl": null,
     "integration": "WHATSAPP-BUSINESS",
     "number": null,
     "businessId": "102290129340398",
     "token": "TOKEN-OF-THE-INSTANCE",
     "clientName": "parley",
     "disconnectionReasonCode": null,
     "disconnectionObject": null,
     "disconnectionAt": null,
     "createdAt": "2026-03-02T09:00:00.000Z",
     "updatedAt": "2026-03-02T09:00:00.000Z",
     "Chatwoot": null,
     "Proxy": null,
     "Rabbitmq": null,
     "Nats": null,
     "Sqs": null,
     "Websocket": null,
     "Setting": {
      "id": "01a20000-0000-7000-8000-000000000001",
      "rejectCall": false,
      "msgCall": "",
      "groupsIgnore": true,
      "alwaysOnline": false,
      "readMessages": false,
      "readStatus": false,
      "syncFullHistory": false,
      "wavoipToken": "",
      "createdAt": "2026-03-02T09:00:00.000Z",
      "updatedAt": "2026-03-02T09:00:00.000Z",
      "instanceId": "01a20000-0000-7000-8000-000000000001"
     },
     "_count": {
      "Message": 2,
      "Contact": 1,
      "Chat": 1
     }
    }
   ]
  }
 ],
 "instance.delete": [
  {
   "name": "example",
   "path": {
    "instance": "shop"
   },
   "status": 200,
   "answer": {
    "status": "SUCCESS",
    "error": false,
    "response": {
     "message": "Instance deleted"
    }
   }
  }
 ]
}
