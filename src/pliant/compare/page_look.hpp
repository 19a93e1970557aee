#pragma once

namespace pliant {

/// How the page of a comparison looks, by day and by night, on a desk and on a telephone.
inline constexpr const char* kComparePageStyle = R"(<style>
:root{color-scheme:light dark;--page:#fbfaf8;--card:#fff;--ink:#1d2126;--soft:#5c6570;--line:#e3e1dc;--shade:#f3f1ec;--grid:#ecebe7;
--bar:#dfe9f6;--tone:42%;--accent:#0b5cad}
@media(prefers-color-scheme:dark){:root{--page:#14171b;--card:#1b1f25;--ink:#e4e7eb;--soft:#9aa4b0;--line:#2d333b;--shade:#22272e;
--grid:#272c34;--bar:#24374f;--tone:66%;--accent:#6cb2ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1320px;margin:0 auto;padding:32px 24px 72px}
h1{font-size:30px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}h2{font-size:21px;margin:44px 0 10px}
p{max-width:80ch;margin:6px 0}.soft{color:var(--soft)}
.tiles{display:flex;flex-wrap:wrap;gap:12px;margin:22px 0}
.tile{flex:1 1 220px;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 18px}
.tile span{display:block;font-size:12.5px;color:var(--soft)}.tile b{display:block;font-size:20px;line-height:1.35}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
td,th{padding:7px 10px;text-align:right;white-space:nowrap}tbody tr+tr td{border-top:1px solid var(--line)}
th{background:var(--shade);font-size:12.5px;font-weight:600;color:var(--soft);cursor:pointer;vertical-align:bottom;white-space:normal;line-height:1.3}
th:not(:first-child){min-width:64px}td small{display:block;font-size:12px;color:var(--soft)}
th[data-sorted]::after{content:" \2191"}th[data-sorted=down]::after{content:" \2193"}
td:first-child,th:first-child{text-align:left;position:sticky;left:0;z-index:1}td:first-child{background:var(--card)}
tr.reference td{color:var(--soft)}tr.ended td:first-child::after{content:" ended early";font-size:12px;color:var(--soft)}
i.dot{display:inline-block;width:10px;height:10px;border-radius:50%;margin-right:8px;background:currentColor}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(380px,100%),1fr));gap:14px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 12px 8px;min-width:0}
figcaption{font-weight:600;font-size:14px;margin:0 4px 6px}.main{margin-bottom:14px}.narrow{display:none}
svg{display:block;width:100%;height:auto}svg text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--soft)}
svg .grid{stroke:var(--grid)}svg .limit{stroke:var(--soft);stroke-dasharray:2 4}
svg polyline{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}svg circle{fill:currentColor}
svg .line{transition:opacity .12s}svg .line.dim{opacity:.1}svg .line.off{display:none}
.key{display:flex;flex-wrap:wrap;gap:6px;margin:0 0 14px}
.key button{font:inherit;font-size:13px;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:99px;padding:3px 12px;cursor:pointer}
.key button[aria-pressed=false]{opacity:.4;text-decoration:line-through}
.films{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(290px,100%),1fr));gap:14px}
.films figure{padding:0;overflow:hidden}.films img{width:100%;display:block}.films img[hidden]{display:none}.films figcaption{margin:8px 14px 10px}
.moments{display:flex;align-items:center;gap:12px;margin:10px 0 14px;flex-wrap:wrap}.moments input{flex:1 1 200px;max-width:460px;accent-color:var(--accent)}
.moments button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:4px 14px;cursor:pointer}
ul{padding-left:20px;margin:6px 0}li{margin:3px 0}footer{margin-top:48px;color:var(--soft);font-size:13px}
@media(max-width:720px){main{padding:20px 14px 48px}h1{font-size:25px}h2{margin-top:34px}.tile{flex-basis:150px;padding:10px 14px}.tile b{font-size:17px}
.wide{display:none}.narrow{display:block}td,th{padding:6px 9px}figure{padding:10px 6px 6px}.films figcaption{margin-left:10px}}
</style>)";

/// Sorts the table, dims and hides lines, and moves all films by one slider. The page says the same without it.
inline constexpr const char* kComparePageScript = R"(<script>
const all=s=>[...document.querySelectorAll(s)],lines=all('svg .line');
const units={m:1,mm:1e-3,'\u00b5m':1e-6,nm:1e-9,pm:1e-12},measure=t=>{const[n,u]=t.trim().split(' ');const v=parseFloat(n);return isNaN(v)?Infinity:v*(units[u]||1)};
const body=document.querySelector('tbody'),heads=all('th');
heads.forEach((head,c)=>head.addEventListener('click',()=>{const down=head.dataset.sorted==='up';
heads.forEach(h=>delete h.dataset.sorted);head.dataset.sorted=down?'down':'up';
[...body.rows].sort((a,b)=>{const x=a.cells[c].textContent,y=b.cells[c].textContent,d=c?measure(x)-measure(y):x.localeCompare(y);
return(down?-1:1)*(d||0)}).forEach(r=>body.append(r))}));
for(const c of heads.map((h,k)=>h.dataset.bar!==undefined?k:-1).filter(k=>k>0)){const v=[...body.rows].map(r=>measure(r.cells[c].textContent)),
f=v.filter(x=>isFinite(x)&&x>0).map(Math.log10),low=Math.min(...f)-.3,high=Math.max(...f);
[...body.rows].forEach((r,k)=>{if(isFinite(v[k])&&v[k]>0){const w=100*(Math.log10(v[k])-low)/(high-low);
r.cells[c].style.background=`linear-gradient(to left,var(--bar) ${w}%,transparent ${w}%)`}})}
for(const b of all('.key button')){const own=lines.filter(l=>l.dataset.name===b.dataset.name);
b.addEventListener('mouseenter',()=>lines.forEach(l=>l.classList.toggle('dim',!own.includes(l))));
b.addEventListener('mouseleave',()=>lines.forEach(l=>l.classList.remove('dim')));
b.addEventListener('click',()=>{const on=b.getAttribute('aria-pressed')!=='true';b.setAttribute('aria-pressed',on);
own.forEach(l=>l.classList.toggle('off',!on))})}
const slider=document.getElementById('moment'),play=document.getElementById('play'),time=document.getElementById('time');
if(slider){const show=()=>{for(const f of all('.films figure')){const images=f.querySelectorAll('img');
images.forEach((im,k)=>im.hidden=k!==Math.min(+slider.value,images.length-1))}
const first=all('.films figure:first-child img');time.textContent=first[+slider.value]?.dataset.time+' s'};
let timer=0;slider.addEventListener('input',show);
play.addEventListener('click',()=>{if(timer){clearInterval(timer);timer=0;play.textContent='Play';return}
play.textContent='Stop';timer=setInterval(()=>{slider.value=(+slider.value+1)%(+slider.max+1);show()},150)})}
</script>)";

}  // namespace pliant
