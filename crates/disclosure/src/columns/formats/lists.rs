//! Lists of frequent words in English, German, French, Spanish, Italian, Dutch and Portuguese, and some from
//! other languages. Case and accents do not matter.

/// Given names that are frequent in national statistics.
pub(super) const GIVEN_NAMES: &str = "\
james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark donald steven \
paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob gary nicholas eric jonathan \
stephen larry justin scott brandon benjamin samuel gregory alexander patrick jack dennis jerry tyler aaron jose adam nathan \
henry zachary douglas peter kyle noah ethan jeremy walter christian keith roger terry austin sean gerald carl harold dylan \
arthur lawrence jordan jesse bryan billy bruce gabriel joe logan alan juan albert willie elijah wayne randy vincent mason \
roy ralph bobby russell bradley philip eugene oliver harry charlie oscar leo freddie archie theo alfie liam lucas ian neil \
simon graham derek stuart colin nigel trevor clive barry ross craig duncan callum ewan owen rhys gareth declan connor \
mary patricia jennifer linda elizabeth barbara susan jessica karen sarah lisa nancy sandra betty ashley emily kimberly \
margaret donna michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia dorothy amy kathleen angela \
shirley emma brenda pamela nicole anna samantha katherine christine debra rachel carolyn janet maria olivia heather helen \
catherine diane julie victoria joyce lauren kelly christina ruth joan virginia judith evelyn hannah andrea megan cheryl \
jacqueline madison teresa abigail sophia martha sara gloria janice kathryn ann isabella judy charlotte julia grace amber \
alice jean denise frances danielle marilyn natalie beverly diana brittany theresa kayla alexis doris lori tiffany amelia \
isla ava mia lily freya poppy florence chloe ella lucy holly imogen gemma fiona siobhan niamh aoife eleanor georgia harriet \
hans klaus jürgen jurgen juergen günter guenter wolfgang uwe dieter manfred bernd horst heinz helmut gerhard werner \
rainer frank jörg joerg stefan stephan andreas matthias markus torsten thorsten ralf dirk sven jens lars jan tim tobias \
sebastian florian felix maximilian moritz lukas leon finn jonas paul luis ben elias niklas philipp johannes karl friedrich \
ernst otto fritz kurt gerd heiko holger volker detlef axel norbert reinhard ulrich hartmut lothar siegfried hermann erich \
ursula monika petra sabine renate helga karin brigitte ingrid erika gisela susanne andrea claudia birgit gabriele heike \
martina anja kerstin silke nicole katrin anke tanja stefanie sandra daniela melanie nadine katharina christina lena lea \
leonie hannah johanna marie sophie clara klara greta frieda mathilda emilia lina ida elke jutta angelika barbara christa \
hildegard gertrud elfriede irmgard ute bettina cornelia franziska jana annika svenja maike heidi doris rosemarie silvia \
jean pierre michel andré andre philippe rené rene louis alain jacques bernard marcel daniel roger robert paul claude henri \
christian georges nicolas françois francois laurent thierry pascal olivier christophe stéphane stephane frédéric frederic \
julien sébastien guillaume alexandre antoine maxime thomas hugo lucas théo enzo mathis nathan gabriel raphaël raphael jules \
arthur adrien quentin romain mathieu matthieu benoît benoit jérôme jerome cédric yves didier gérard gerard gilles serge \
karim mehdi marie jeanne françoise francoise monique catherine nathalie isabelle jacqueline anne sylvie martine nicole \
hélène helene christine valérie valerie sandrine stéphanie céline celine véronique veronique sophie aurélie aurelie émilie \
julie camille léa lea manon chloé chloe emma inès jade zoé zoe louise margaux mathilde lucie pauline charlotte clémence \
océane oceane amélie elodie élodie audrey virginie laetitia corinne brigitte chantal simone denise odette thérèse therese \
antonio josé manuel francisco david juan javier daniel jesús carlos alejandro miguel rafael pedro ángel angel pablo sergio \
fernando jorge luis alberto álvaro alvaro diego adrián adrian raúl raul iván enrique ramón ramon vicente andrés andres \
joaquín rubén ruben santiago eduardo víctor victor mario marcos hugo mateo martín martin nicolás gonzalo ignacio guillermo \
jaime emilio felipe salvador ricardo gustavo héctor cristian óscar esteban rodrigo lorenzo tomás agustín maría carmen \
josefa isabel dolores pilar teresa ana francisca antonia mercedes concepción rosario juana cristina marta lucía lucia \
paula elena laura raquel sara beatriz rocío silvia patricia nuria irene montserrat rosa encarnación julia inmaculada \
alicia sofía sofia valentina camila daniela gabriela ximena guadalupe leticia verónica lorena yolanda susana natalia \
giuseppe giovanni mario luigi angelo vincenzo pietro salvatore franco domenico bruno paolo michele giorgio aldo sergio \
luciano marco andrea alessandro stefano francesco matteo lorenzo riccardo davide simone federico luca fabio roberto \
claudio massimo maurizio gianluca enrico filippo tommaso edoardo leonardo alessio daniele giacomo emanuele nicola \
raffaele carlo giulio gabriele maria anna giuseppina rosa angela giovanna lucia carmela caterina francesca antonietta \
elena chiara giulia martina sara valentina federica alessandra silvia paola laura elisa ilaria roberta simona monica \
barbara sofia aurora giorgia beatrice alice greta emma ginevra vittoria matilde bianca gaia arianna camilla claudia \
johannes jan cornelis hendrik willem pieter gerrit jacobus petrus dirk kees piet henk joop wim sjoerd bas daan sem luuk \
milan bram thijs lars jesse ruben sander jeroen maarten rob erik peter marcel johan bart niels joost koen tijs sven floris \
wouter gijs teun hugo stijn johanna wilhelmina cornelia elisabeth annie anneke ingrid marieke sanne femke lotte anouk \
fleur julia tess sophie eva saskia ilse maaike esther linda monique marjan ria truus mieke lieke noor roos iris \
joão joao antónio antonio josé manuel francisco pedro paulo tiago rui nuno miguel luís carlos bruno ricardo gonçalo \
duarte afonso rodrigo diogo vasco hélder sérgio jorge fernando marcelo thiago lucas gabriel felipe guilherme gustavo \
matheus rafael leandro vinícius anderson wagner everton renato caio otávio maria ana joana catarina inês beatriz mariana \
carolina sofia matilde leonor rita sónia cláudia fernanda juliana camila larissa letícia amanda bruna aline vanessa \
adriana márcia luciana tatiana débora renata simone vera fátima fatima conceição aparecida antônia raimunda \
piotr krzysztof andrzej tomasz paweł jan michał marcin jakub adam łukasz grzegorz mateusz wojciech zbigniew jerzy tadeusz \
stanisław ryszard maciej kamil dawid bartosz szymon filip anna katarzyna małgorzata agnieszka barbara ewa krystyna magdalena \
elżbieta joanna zofia aleksandra monika teresa danuta natalia karolina zuzanna julia maja hanna alicja oliwia \
mehmet mustafa ahmet ali hüseyin hasan ibrahim ismail osman yusuf murat ömer ramazan halil süleyman emre burak can deniz \
fatma ayşe emine hatice zeynep elif meryem şerife merve büşra esra \
mohamed mohammed muhammad ahmed omar youssef hassan abdul khalid hamza amir bilal samir aisha amina leila layla yasmin nour \
lars anders erik johan karl nils per mikael björn bjorn olof gunnar sven magnus fredrik henrik oskar astrid ingrid kristina \
karin birgitta anneli maja elsa linnea ebba søren soren jens niels mads rasmus mette kirsten hanne lene ole kåre kari \
marit solveig juha matti timo kari mikko antti jari pekka markku liisa anne päivi tuula \
wei li ming jing yan fang jun lei hui priya rahul amit raj sanjay anil sunil deepak vijay arjun rohan anjali pooja neha \
sunita kavita lakshmi hiroshi takashi kenji yuki akira satoshi haruto yui sakura minh linh nguyen thanh ivan dmitri sergei \
tyrone brittney dwayne courtney shawn latoya travis kristin marcus antonio curtis derrick darnell jamal tyrell deandre malik isaiah \
ethan aiden caleb owen connor landon gavin dominic xavier ian cole chase brody hunter cody dustin derek brett chad corey darren \
randall wesley clifford leonard ernest norman marvin vernon herbert melvin leroy floyd lloyd eddie leon calvin alvin gordon dale \
brenda wanda bonnie tammy tina dawn tracy stacy wendy vicki heidi holly erin erica monica crystal april misty amber kristen katie \
lindsay lindsey jenna paige mackenzie savannah brianna destiny jasmine aaliyah naomi leah claire stella hazel violet aurora nora \
eva ruby ivy willow elsie maisie evie erin orla ciara sinead roisin cormac cillian eoin padraig sean seamus alasdair hamish rory angus \
morag eilidh cerys bronwen dafydd geraint nigel rupert hugo jasper felicity penelope beatrice arabella tamsin jemima rosie phoebe \
bastien maëlys corentin lucile ghislaine thibault solène hervé muriel gaëtan loïc yann erwan gwenaëlle maël noé timéo nolan ethan \
sacha axel baptiste clément valentin dorian florian kévin anthony mickaël jérémy ludovic fabrice fabien arnaud xavier régis bruno gilbert \
maurice roland lucien fernand armand marius émile gaspard victoire capucine apolline agathe alix juliette romane lola lina anaïs \
marion justine coralie mélanie mélissa jessica delphine karine séverine magali ludivine maryse josiane ginette yvette yvonne colette \
lucienne raymonde simonne huguette solange odile régine joëlle danielle evelyne éliane michèle agnès béatrice florence \
ottavio ludovica gennaro loredana silvio mirella dario ornella tiziana patrizia cinzia donatella antonella raffaella graziella ivana \
nadia samuele mattia diego gabriele cristian nicolò pasquale carmine rocco gaetano umberto alfredo armando renato guido piero ugo \
gino nino elisabetta serena veronica irene miriam noemi alessia martina giada benedetta margherita ludovico ginevra viola greta \
maribel jacinto belén esperanza consuelo remedios asunción amparo begoña aitor iker unai ander nerea ainhoa leire itziar jordi marc \
pol arnau oriol mercè núria xavi joan pere josep ramona trinidad purificación eva noelia vanesa tamara lidia nerea aroa naiara ariadna \
claudia adriana vega alba carla celia blanca candela jimena renata ignacia catalina constanza benjamín maximiliano facundo thiago \
santino mauricio rodolfo armando arturo ernesto horacio osvaldo rogelio efraín hernán germán fabián leandro marisol graciela norma \
mirta susana estela elvira ofelia dora zulema yesenia xiomara geert margriet wietske hendrika joris fenna hilde nele griet veerle \
katrien lieve goedele pieter-jan sven stef dries lander wout arne ruud frits henny gerda tineke hetty corrie willemijn sophieke femke \
janneke mirjam miranda petra desirée chantal wilma yvonne marlies margot roel siebe jelle jurre hidde mats fedde douwe sietse \
edson jéssica rogério luana wesley cleide valdir osvaldo sebastião benedito geraldo josé raimundo antônio severino ivone neusa \
sandra simone elaine cristiane viviane michele priscila raquel débora lúcia helena cecília yasmin lorena isabela heloísa lívia \
lavínia murilo enzo heitor davi arthur bernardo samuel pietro lorenzo cauã kauã vitória nicole ester graça fernanda lurdes \
amélia céu rosário manuela filipa telma sílvia susana joaquim américo armindo abílio álvaro gonçalo martim salvador simão \
heinrich joachim jochen jürgen siegfried egon erwin kurt eberhard gottfried ewald rudi rudolf wilhelm oskar anton emil theo jakob \
mats mika jannik fabian dominik patrick marvin kevin dennis pascal marcel sascha rené ronny maik mike steffen carsten karsten \
henning arne björn malte thilo tilo kai timo bastian benedikt valentin vincent leopold konstantin xaver alois franz josef johann \
georg michaela manuela carola ramona yvonne mandy peggy doreen kathrin katja antje annette anneliese annemarie liselotte lieselotte \
hannelore ingeborg rosemarie waltraud edeltraud gerda herta hertha ilse irma elfriede magdalena theresa veronika regina roswitha \
sigrid gudrun ulrike dagmar evelyn iris ines imke wiebke frauke meike maren silvana vanessa jennifer jasmin selina celina \
marlene pauline charlotte ella mila amelie luisa luise helene mira paulina antonia rosalie josephine carlotta \
zdzisław halina bożena mirosław jadwiga stanisława helena irena marianna teresa grażyna iwona dorota renata beata urszula wiesława \
jolanta edyta sylwia justyna patrycja paulina dominika weronika wiktoria jacek dariusz mariusz sławomir leszek bogdan kazimierz \
wiesław józef henryk marek robert artur sebastian przemysław rafał radosław damian bartłomiej gunilla ulf elin maria \
eva margareta kerstin lena sara emelie ida johanna hanna malin jenny lisa anton emil viktor simon albin axel gustav hugo liam \
sergei vladimir igor olga svetlana natasha tatyana irina yelena mikhail nikolai alexei boris";

/// Surnames that are frequent in national statistics.
pub(super) const SURNAMES: &str = "\
smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson thomas \
taylor moore jackson martin lee perez thompson white harris sanchez clark ramirez lewis robinson walker young allen king \
wright scott torres nguyen hill flores green adams nelson baker hall rivera campbell mitchell carter roberts gomez phillips \
evans turner diaz parker cruz edwards collins reyes stewart morris morales murphy cook rogers gutierrez ortiz morgan cooper \
peterson bailey reed kelly howard ramos kim cox ward richardson watson brooks chavez wood james bennett gray mendoza ruiz \
hughes price alvarez castillo sanders patel myers long ross foster jimenez powell jenkins perry russell sullivan bell \
coleman butler henderson barnes gonzales fisher vasquez simmons romero jordan patterson alexander hamilton graham reynolds \
griffin wallace moreno west cole hayes bryant herrera gibson ellis tran medina aguilar stevens murray ford castro marshall \
owens harrison fernandez mcdonald woods washington kennedy wells vargas henry chen freeman webb tucker guzman burns crawford \
olson simpson porter hunter gordon mendez silva shaw snyder mason dixon munoz hunt hicks holmes palmer wagner black \
robertson boyd rose stone salazar fox warren mills meyer rice schmidt garza daniels ferguson nichols stephens soto weaver \
ryan gardner payne grant dunn kelley spencer hawkins obrien brien connor reilly sullivan byrne walsh davies griffiths \
jenkins lloyd rees clarke cooke barker barrett chapman dawson fletcher gill harvey hudson jennings johnston knight lawrence \
matthews mccarthy newman norris osborne pearce pearson potter reid saunders sharp slater thornton turnbull walton whitehead \
wilkinson macdonald mackenzie maclean fraser cameron sinclair khan ahmed hussain begum singh kaur sharma gupta kumar shah \
müller mueller schmidt schneider fischer weber meyer meier maier mayer wagner becker schulz hoffmann schäfer schaefer koch \
bauer richter klein wolf schröder schroeder neumann schwarz zimmermann braun krüger krueger hofmann hartmann lange schmitt \
werner schmitz krause lehmann schmid schulze köhler koehler herrmann könig koenig walter huber kaiser fuchs peters lang \
scholz möller moeller weiß weiss jung hahn schubert vogel friedrich keller günther guenther frank berger winkler roth beck \
lorenz baumann franke albrecht schuster simon ludwig böhm boehm winter kraus martin schumacher krämer kraemer vogt stein \
jäger jaeger otto sommer groß gross seidel heinrich brandt haas schreiber graf schulte dietrich ziegler kuhn kühn pohl \
engel horn busch bergmann thomas voigt sauer arnold wolff pfeiffer gruber steiner moser egger brunner hofer leitner \
martin bernard dubois thomas robert richard petit durand leroy moreau simon laurent lefebvre lefèvre michel garcia david \
bertrand roux vincent fournier morel girard andre andré lefevre mercier dupont lambert bonnet francois martinez legrand \
garnier faure rousseau blanc guerin guérin muller henry roussel nicolas perrin morin mathieu clement clément gauthier \
dumont lopez fontaine chevalier robin masson sanchez gerard nguyen boyer denis lemaire duval joly gautier roger roche roy \
noel meyer lucas meunier jean perez marchand dufour blanchard marie barbier brun dumas brunet schmitt leroux colas fernandez \
pierre renard arnaud rolland caron aubert giraud leclerc vidal bourgeois renaud lemoine picard gaillard philippe leclercq \
lacroix fabre dupuis olivier rodriguez da benali besson haddad cohen traoré diallo ndiaye benoit lévy levy poirier \
garcía garcia gonzález rodríguez fernández lópez martínez sánchez pérez gómez martín jiménez ruiz hernández díaz moreno \
muñoz álvarez romero alonso gutiérrez navarro torres domínguez vázquez ramos gil ramírez serrano blanco molina morales \
suárez ortega delgado castro ortiz rubio marín sanz núñez iglesias medina garrido cortés castillo santos lozano guerrero \
cano prieto méndez cruz calvo gallego herrera márquez león vidal peña flores cabrera campos vega fuentes carrasco diez \
reyes caballero nieto aguilar pascual santana herrero lorenzo montero hidalgo giménez ibáñez ferrer durán santiago benítez \
mora vicente vargas arias carmona crespo román pastor soto sáez velasco moya soler parra esteban bravo gallardo rojas \
rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti de luca mancini costa giordano \
rizzo lombardi moretti barbieri fontana santoro mariani rinaldi caruso ferrara galli martini leone longo gentile martinelli \
vitale lombardo serra coppola de santis d'angelo marchetti parisi villa conte ferraro ferri fabbri bianco marini grasso \
valentini messina sala de angelis gatti pellegrini palumbo sanna farina rizzi monti cattaneo morelli amato silvestri \
mazza testa grassi pellegrino carbone giuliani benedetti barone rossetti caputo montanari guerra palmieri bernardi \
jong jansen vries berg bakker dijk visser janssen smit meijer boer mulder groot bos vos peters hendriks leeuwen dekker \
brouwer wit dijkstra smits graaf meer linden kok jacobs haan vermeulen heuvel veen broek bruijn heijden schouten beek \
willems hoekstra koster prins verhoeven huisman kuipers postma veenstra kuiper timmermans maas verbeek groen peeters \
janssens maes mertens claes goossens wouters desmet dubois lambert dupont hermans pauwels aerts michiels devos vandenberg \
silva santos ferreira pereira oliveira costa rodrigues martins jesus sousa souza fernandes gonçalves gomes lopes marques \
alves almeida ribeiro pinto carvalho teixeira moreira correia mendes nunes soares vieira monteiro cardoso rocha raposo \
neves coelho cruz cunha pires ramos reis simões antunes matos fonseca machado araújo barbosa tavares lourenço castro \
figueiredo azevedo freitas lima melo barros nascimento moraes dias batista campos andrade cavalcanti guimarães moura \
nowak kowalski kowalska wiśniewski wiśniewska wójcik kowalczyk kamiński kamińska lewandowski lewandowska zieliński zielińska \
szymański szymańska woźniak dąbrowski dąbrowska kozłowski kozłowska jankowski jankowska mazur wojciechowski kwiatkowski \
krawczyk kaczmarek piotrowski grabowski zając pawłowski michalski król wieczorek jabłoński wróbel \
yılmaz yilmaz kaya demir şahin sahin çelik celik yıldız yildiz yıldırım öztürk ozturk aydın aydin özdemir arslan doğan \
kılıç aslan çetin kara koç kurt özkan şimşek \
andersson johansson karlsson nilsson eriksson larsson olsson persson svensson gustafsson pettersson jonsson lindberg lindström \
hansen johansen olsen larsen andersen pedersen nilsen kristiansen jensen nielsen christensen rasmussen sørensen jørgensen \
korhonen virtanen mäkinen nieminen mäkelä hämäläinen laine heikkinen koskinen järvinen \
wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu park choi jung kang cho tanaka suzuki sato watanabe takahashi \
ito yamamoto nakamura kobayashi ivanov petrov smirnov kuznetsov popov volkov sokolov ivanova petrova papadopoulos hussein \
ali hassan ibrahim okafor mensah horvat novák novak svoboda dvořák kovács nagy szabó tóth popescu ionescu singh reddy \
hutchinson castaneda mccoy mcgee bolton oneal pratt mcbride mccormick mcdaniel mclaughlin mcintyre mccall mcguire mckinney mcmahon odonnell \
oconnor oneill fitzgerald fitzpatrick gallagher kavanagh doyle brennan burke nolan quinn duffy maguire boyle harrington whitfield whitaker \
blackwell blackburn bradford bradshaw brewer briggs buchanan calhoun cameron carr carson cervantes chandler christensen clayton conner \
conway cummings dalton dawson decker delacruz dickerson dillon dorsey doyle duncan duran elliott england erickson espinoza farmer farrell \
figueroa fleming flynn fowler frazier frederick fry fuller gaines galloway gates gibbs gilbert glenn goodman goodwin graves greene greer \
gross hahn hammond hancock hanson hardin harmon hartman hawkins hayden haynes hendrix herring hickman higgins hodges hoffman hogan holland \
holloway hopkins horton houston howell hubbard huff hurley ingram jacobson jarvis jensen johns joyce juarez keith kerr kirby kirk klein \
knapp kramer lamb lang larsen leach leblanc leon lindsey little livingston logan lowe lucas luna lynch lyons mack maddox maldonado malone \
mann manning marks marsh massey mathews maxwell maynard meadows mejia melton mercado mercer middleton miles monroe montgomery montoya moody \
moon moran morrow morse morton moss mueller mullins navarro neal newton nicholson nixon noble nolan norman norton ochoa odom oliver olsen \
ortega osborn pace pacheco padilla parks parrish patrick patton paul pearson peck pena perkins petersen phelps pitts pollard ponce poole \
pope powers preston proctor pruitt quinn ramsey randall randolph rangel rasmussen ray rhodes richards richmond riley rivas roach robbins \
roberson robles rocha rodgers rojas rollins roman rosales rosario rosas rowe rush russo salas salinas sampson sandoval savage schroeder \
schultz schwartz sellers serrano sexton shaffer shannon shelton shepherd sheppard sherman shields short singleton skinner sloan solis \
sparks stafford stanley stanton stark steele stein stephenson stevenson stokes stout strickland strong stuart suarez summers sutton \
sweeney swanson tanner tate terrell terry todd townsend travis trevino trujillo tyler valdez valencia valentine valenzuela vance vaughn \
vaughan vega velasquez velazquez vincent wade wallace waller walls walsh walter walters warner waters watkins watts weaver webster weeks \
weiss welch wheeler whitney wiggins wilcox wiley wilkerson wilkins willis winters wise wolf wolfe woodard woodward wyatt yates york zamora \
zimmerman armstrong atkinson barlow barton baxter bentley birch bishop blake booth bowen bradley burgess burton carroll chadwick charlton \
crossley curtis davey dodd donnelly farrow field finch firth forster frost gibbons godfrey goddard gough gould greenwood hale hargreaves \
hartley haywood heath hewitt hilton hobbs holt hooper horne howarth howe hurst iqbal jarvis jeffery kemp kent knowles leigh lister lord \
marsden mellor metcalfe mills naylor nuttall ogden parkin parkinson peacock pickering potts preece pritchard pugh rahman redfern rowley \
sargent savage schofield sheikh sutcliffe swift sykes talbot tomlinson tyler underwood vickers wainwright warburton whittaker wilde \
woodhouse wyatt yates delacroix vasseur lecomte guillot prévost maillard charpentier rey blondel pichon lebrun bouvier carpentier \
guillaume hubert leblanc poulain royer barre bailly besnard camus collet cordier coulon courtois cousin delaunay delmas descamps \
deschamps devaux didier dupuy étienne ferrand fleury germain gilbert gillet gros guichard guillou hamon hardy hebert hoarau humbert \
imbert jacob jacquet jacques joubert klein laine langlois laporte lebon lefort legros lejeune lelievre leveque lopes lucas maillot mallet \
marechal marin marion marty maury michaud millet moulin navarro nguyen paris parent pasquier pelletier perret perrot petitjean peltier \
poirier pons prevot raymond regnier remy renault rey reynaud ribeiro riviere rodrigues rousset roy royer salmon sauvage schneider \
tanguy tessier texier thibault vallet valentin vasseur verdier vaillant voisin weber wagner zimmermann bellini pagani donati sartori \
zanetti basile neri piras orlando melis martino ruggiero bassi negri fiore guidi vitali riva sala pace mauri valente rota barbato \
farina ferretti marchi bruni bernardini franchi battaglia sorrentino grimaldi napolitano d'amico parodi mele bevilacqua cirillo \
fumagalli brambilla colombo galli villa riva poli piazza longhi milani salvi ventura volpe zanella zanini zamora paredes quintana luna solis \
escobar cardenas rivas salas ibarra acosta aguirre avila barrera benítez bustos cáceres cardozo cárdenas cisneros contreras cordero correa \
córdoba duarte escobar espinosa figueroa franco gaitán galindo godoy guevara ledesma leiva lara maldonado miranda montes naranjo ojeda \
olivares orozco ortega osorio pacheco palacios paz peralta pineda ponce quintero quiroga rincón ríos rivero robles rosales rueda saavedra \
salinas segura sepúlveda sierra solano soria tapia toledo trujillo urrutia valdés valencia valenzuela varela velázquez vera villalba \
villanueva zapata zúñiga etxeberria aguirre pujol ferrer puig vila roca soler vidal serra hoogland horst schippers zijlstra heijden \
boersma bosch bosman cornelissen driessen evers franken gerritsen goossens hofman hoekman jonker kamp kroon lammers leeuw lubbers \
martens meulen molenaar nijhuis oosterhout peeters pol prinsen rietveld ruiter scholten schoenmaker simons slot sluis snijders spijker \
steen stam swart terpstra tromp veldman vermeer verhagen verhoef vink visscher vliet wal westra wiersma wijk winter zanten zwart \
nogueira farias peixoto moreira duarte pacheco brito vasconcelos seabra tavares viana xavier toledo siqueira rezende pimentel moraes \
medeiros macedo lacerda guerra garcia fontes dantas camargo borges bezerra amaral aguiar abreu sampaio seixas sequeira serrano valente \
varela vaz veloso baumgartner brandl eder fuchs hofmann holzer lechner mayr pichler reiter schmid schwaiger stadler strasser wallner \
weiss wimmer winkler aigner bader bachmann barth bayer behrens bender benz bischoff blum bock böhme born brand breuer buchholz busse \
conrad decker diehl dittrich döring ebert eckert ehlers eichhorn ernst esser falk feldmann fiedler fink forster freund fritz funk gebhardt \
geiger gerlach giese götz gottschalk haase hagen hammer hanke heckmann hein heinemann heller hempel hennig hermann hess heß hesse heuer \
hinz hirsch höfer hübner jahn janßen jansen jost kahl karl kaufmann keil kern kirchner klaus klose knoll kohl konrad kopp körner kramer \
krebs kremer kroll kruse kunz kunze kurz langer lauer lehner lindner link löffler lutz marquardt marx may menzel merkel michel mohr moritz \
nagel naumann neubauer nickel noack nowak oswald pape paul petersen pfeifer philipp pieper prinz probst rau reich reichert reinhardt \
reuter riedel rieger ritter rohde röder rudolph runge sander schade schaller scherer schiller schilling schlüter schott schramm schreiner \
schröter schütte schütz schuler schumann seifert siebert simon springer stahl steffen stephan stiller stock stoll straub strauß thiel \
thiele thieme tietz ullrich unger urban vetter vollmer voß wagener wegner weidner weigel wendt wenzel werner westphal wiegand wilhelm \
wilke witt witte wirth wulf zander zeller zink boruta sikora wilk mazurek pawlak dudek wieczorek stępień adamczyk pawlik zawadzki \
sadowski bąk chmielewski borkowski czarnecki sawicki sokołowski urbański kubiak maciejewski szczepański kucharski wilczyński lis \
kalinowski wysocki adamski kaźmierczak sobczak czerwiński andrzejewski cieślak głowacki zakrzewski kołodziej sikorski krajewski \
gajewski szymczak szulc baran laskowski brzeziński makowski ziółkowski przybylski sandström holmqvist ekdahl åkesson nyström berglund \
sjöberg wallin engström eklund danielsson håkansson lundin björk bergman gunnarsson samuelsson holm wikström isaksson bergqvist nyberg \
arvidsson söderberg lundgren lundqvist axelsson bjork";

/// Particles of names.
pub(super) const PARTICLES: &str = "de van von der den del della di da dos das do du la le el al bin ibn ter ten zu zur zum y e af av mc mac o d san st jr sr ii iii";

/// Titles in front of names.
pub(super) const TITLES: &str = "\
mr mrs ms miss dr prof herr frau hr fr monsieur madame mme mlle señor señora señorita sr sra srta don doña signor signora \
sig dott dottssa avv ing dhr mevr mevrouw meneer heer senhor senhora dra professor sir dame rev";

/// Words for men.
pub(super) const MALE: &str = "\
mr monsieur señor signor heer senhor sr male man boy men männlich mann maennlich masculin homme hombre masculino varón varon maschio maschile uomo man mannelijk \
jongen masculino homem mężczyzna mies mand kille garçon junge herr masc";

/// Words for women.
pub(super) const FEMALE: &str = "\
mrs ms miss madame mme señora signora mevrouw senhora sra female woman girl women weiblich frau féminin femme feminin mujer femenino hembra femmina femminile donna vrouw vrouwelijk \
meisje feminino mulher kobieta nainen kvinde fille mädchen fem kvinna";

/// Words for other sexes, or for sexes that are not known.
pub(super) const OTHER_SEX: &str = "\
diverse divers nonbinary non binary other unknown intersex x andere autre otro otra altro anders outro unbekannt inconnu \
desconocido sconosciuto onbekend desconhecido undisclosed transgender undetermined";

/// Words for marital status.
pub(super) const MARITAL: &str = "\
never civil domestic single married divorced widowed separated unmarried widow widower partnership cohabiting engaged spouse \
ledig verheiratet geschieden verwitwet getrennt lebenspartnerschaft célibataire marié mariée divorcé divorcée veuf veuve pacsé \
pacsée séparé séparée soltero soltera casado casada divorciado divorciada viudo viuda separado separada celibe nubile \
coniugato coniugata divorziato divorziata vedovo vedova separato separata ongehuwd gehuwd gescheiden verweduwd weduwe weduwnaar \
solteiro solteira divorciado viúvo viúva concubinage samenwonend";

/// Words for nationalities.
pub(super) const NATIONALITIES: &str = "\
german austrian swiss french spanish italian dutch portuguese brazilian british english irish scottish welsh american canadian \
mexican polish turkish greek romanian bulgarian hungarian czech slovak croatian serbian ukrainian russian swedish danish \
norwegian finnish belgian chinese japanese korean indian pakistani vietnamese syrian afghan iraqi iranian moroccan algerian \
tunisian egyptian nigerian australian deutsch österreichisch schweizerisch französisch spanisch italienisch niederländisch \
portugiesisch polnisch türkisch griechisch rumänisch russisch ukrainisch syrisch française français allemande allemand espagnole \
espagnol italienne italien portugaise portugais belge suisse marocaine algérienne tunisienne española español alemana alemán \
francesa italiana italiano portuguesa marroquí rumana colombiana venezolana argentina mexicana tedesca tedesco francese \
spagnola rumena nederlandse nederlands duitse duits franse belgische marokkaanse turkse poolse brasileira brasileiro alemã \
portuguesa espanhola angolana polska deutsche deutscher";

/// Words that occur in ethnic origins and nowhere else.
pub(super) const ETHNICITIES: &str = "\
asian hispanic latino latina latinx caucasian hawaiian islander indigenous aboriginal maori arab roma gypsy traveller \
afro african inuit métis metis aleut alaska mestizo mulatto pardo parda preto amarela indígena indigena caribbean \
bangladeshi sinti asiatisch afrikanisch kaukasisch hispanisch lateinamerikanisch asiatique africain africaine maghrébin \
caucásico asiático asiática afrodescendiente gitano latinoamericano asiatico africano caucasico aziatisch afrikaans \
surinaams antilliaans negro negra ethnicity multiracial biracial races indígenas";

/// Words that occur in ethnic origins, but elsewhere too.
pub(super) const WEAK_ETHNICITIES: &str = "\
white black brown mixed other american native pacific indian chinese pakistani european two more multiple race origin ethnic \
group background not or and any unknown british irish eastern middle southeast south north east west japanese korean \
filipino vietnamese moroccan turkish preta preto pretos weiß schwarz gemischt europäisch blanc noir blanco blanca bianco branca branco zwart wit \
europeo europea européen arabisch turks marokkaans of non prefer say declined stated refused türkisch german arabe mixte";

/// Words for religions.
pub(super) const RELIGIONS: &str = "\
christian catholic protestant orthodox muslim islam islamic jewish judaism hindu hinduism buddhist buddhism sikh sikhism atheist \
agnostic lutheran methodist baptist anglican evangelical pentecostal mormon presbyterian quaker jehovah christianity \
episcopalian bahai taoist shinto sunni shia jain adventist atheism secular ortodossa ebraica israelita evangelica induismo buddismo \
katholisch evangelisch evang muslimisch islamisch jüdisch hinduistisch buddhistisch konfessionslos christlich alevitisch \
orthodoxe freikirchlich atheistisch altkatholisch protestantisch rk ev kath bekenntnislos \
catholique musulman musulmane juif juive bouddhiste hindouiste athée agnostique chrétien chrétienne protestante orthodoxe laïque \
católico católica musulmán musulmana judío judía budista evangélico evangélica ateo atea cristiano cristiana protestante \
cattolico cattolica musulmano ebreo ebrea buddista induista ateo evangelico ortodosso valdese \
katholiek protestants hervormd gereformeerd moslim joods boeddhistisch hindoeïstisch christelijk islamitisch atheïstisch \
muçulmano muçulmana judeu judaica hinduísta espírita umbanda candomblé cristão ateu agnóstico ortodoxo";

/// Beginnings of words for religions, without accents.
pub(super) const RELIGION_STEMS: &[&str] = &[
    "catol",
    "cathol",
    "cattol",
    "kathol",
    "katol",
    "protestant",
    "evangel",
    "orthod",
    "ortod",
    "muslim",
    "musul",
    "mucul",
    "islam",
    "jewish",
    "judai",
    "judisch",
    "juif",
    "juiv",
    "ebrai",
    "ebreo",
    "hebre",
    "buddh",
    "bouddh",
    "budis",
    "hindu",
    "hindou",
    "indui",
    "agnost",
    "luther",
    "calvin",
    "anglic",
    "baptis",
    "batis",
    "metodis",
    "methodis",
    "mormon",
    "advent",
    "pentecost",
    "konfessionslos",
];

/// Words that occur in religions, but elsewhere too.
pub(super) const WEAK_RELIGIONS: &str = "\
roman rooms bekenntnis church of england no none other religion without ohne keine sans aucune ninguna nessuna geen sem religião religión \
religione latter day saints witness witnesses römisch griechisch romain romano romana and the unaffiliated not stated \
unknown andere sonstige autre otra altra outra greek united reformed sin free zeugen jehovas";

/// Words for states of processes.
pub(super) const STATES: &str = "\
open closed pending progress cancelled canceled done active inactive new draft approved rejected completed complete failed \
success successful running queued waiting shipped delivered paid unpaid processing archived deleted enabled disabled started \
stopped paused resolved blocked published scheduled expired suspended todo hold review accepted submitted error ready online \
offline returned refunded sent received on off in confirmed created skipped ok low medium high critical urgent normal minor \
major offen geschlossen bearbeitung abgeschlossen storniert erledigt neu aktiv inaktiv versendet bezahlt entwurf fertig \
ouvert fermé cours annulé terminé nouveau actif inactif brouillon validé expédié payé attente abierto cerrado pendiente \
cancelado terminado nuevo activo inactivo borrador enviado pagado proceso aperto chiuso sospeso annullato completato nuovo \
attivo spedito lavorazione geopend gesloten lopend geannuleerd afgerond nieuw actief verzonden betaald aberto fechado pendente \
concluído novo ativo rascunho partially backlog";

/// Words for colours.
pub(super) const COLOURS: &str = "\
red black white brown blue green yellow orange purple pink grey gray beige turquoise silver gold navy violet cyan magenta olive maroon teal \
schwarz weiß braun noir blanc marron negro blanco nero bianco zwart wit bruin preto branco rot blau grün gelb lila rosa grau rouge bleu vert jaune gris rojo azul verde amarillo rosso blu giallo rood blauw groen geel \
vermelho amarelo";

/// Words that street lines end or begin with, or parts of words that they end with.
pub(super) const STREETS: &str = "\
street st avenue ave road rd lane ln drive dr boulevard blvd bd court ct place pl square sq terrace close crescent way parkway \
pkwy highway hwy circle trail row gardens grove mews straße strasse str weg allee platz gasse ring ufer damm chaussee steig \
promenade rue impasse quai cours chemin route allée faubourg calle avda av avenida plaza paseo carretera ronda camino travesía \
via viale piazza corso vicolo largo strada piazzale vle straat laan plein gracht kade singel dreef dijk steenweg rua travessa \
praça estrada alameda rodovia beco ulica ul aleja al plac gatan vägen gade vej veien";

/// Ends of words for streets that are written as one word.
pub(super) const STREET_ENDINGS: &[&str] = &[
    "strasse",
    "str",
    "weg",
    "allee",
    "platz",
    "gasse",
    "ring",
    "ufer",
    "damm",
    "chaussee",
    "steig",
    "straat",
    "laan",
    "plein",
    "gracht",
    "kade",
    "singel",
    "dreef",
    "dijk",
    "steenweg",
    "gatan",
    "vagen",
    "gade",
    "vej",
    "veien",
    "katu",
    "tie",
    "wall",
    "markt",
    "stieg",
    "pfad",
    "hof",
    "berg",
    "promenade",
];

/// Words that texts about people have.
pub(super) const ABOUT_PEOPLE: &str = "\
patient patients pat pt he she his her him mr mrs complains complained denies admitted discharged \
diagnosed prescribed presented suffers surgery diagnosis medication depression diabetes asthma \
hypertension pregnant smoker patientin patienten herr frau klagt berichtet verordnung befund diagnose \
anamnese familienanamnese schmerzen rückenschmerzen überweisung verdacht angesetzt wiedervorlage \
beschwerden krankschreibung sturz prellung telefonat allergie seine ihm patiente mme monsieur madame \
consulte douleurs douleur antécédents souffre allergique hospitalisé prescrit paciente refiere dolor \
antecedentes señor señora sr sra ingresado alergia presenta paziente riferisce dolore anamnesi marito \
signora signor ricoverato allergia lamenta patiënt patiënte klaagt pijn mevrouw mevr meneer dhr hij zij \
opgenomen allergisch huisarts dor queixa queixa-se senhora senhor internado relata sente";

/// Words that texts about people have, but others as well.
pub(super) const MAYBE_ABOUT_PEOPLE: &str = "\
client customer employee student pupil mother father daughter son wife husband sister child caller tenant \
applicant mutter vater tochter sohn kunde kundin schüler schülerin mitarbeiter mitarbeiterin ehefrau ehemann \
mère père fils fille époux épouse cliente élève salarié madre padre hija hijo esposa marido alumno alumna \
empleado empleada figlia figlio moglie dipendente studente moeder vader dochter zoon cliënt leerling \
medewerker mãe pai filha filho esposo aluno aluna funcionário treatment therapy hospital operation symptoms \
pain fever allergic traitement tratamiento terapia behandeling";

/// Names of diseases, and parts of them.
pub(super) const DISEASES: &str = "\
hypertension hypertonie diabetes mellitus asthma copd migraine migräne depression depressive anxiety schizophrenia bipolar dementia \
alzheimer parkinson epilepsy epilepsie stroke infarction herzinfarkt schlaganfall angina fibrillation pneumonia carcinoma cancer krebs \
tumor tumour lymphoma leukemia leukaemia melanoma anemia anaemia hypothyroidism hyperlipidemia hypercholesterolemia obesity adipositas \
osteoporosis arthrosis arthrose rheumatoid sclerosis psoriasis eczema ekzem neurodermitis influenza tuberculosis hiv aids covid sepsis \
fracture fraktur sciatica lumbago rückenschmerzen allergie allergy ulcer reflux hernia colitis crohn cirrhosis insufficiency insuffizienz \
hypertensión hipertensión diabète asthme dépression anxiété pneumonie fracture grippe cancer ansiedad depresión neumonía fractura cáncer \
ipertensione diabete depressione polmonite frattura tumore hoge bloeddruk longontsteking beroerte hipertensão ansiedade depressão pneumonia";

/// Ends of the names of diseases.
pub(super) const DISEASE_ENDINGS: &[&str] = &[
    "itis",
    "aemia",
    "emia",
    "amie",
    "algia",
    "algie",
    "pathy",
    "pathie",
    "carcinoma",
    "karzinom",
    "sarcoma",
    "plegia",
    "phobia",
];

/// Words that texts about goods have.
pub(super) const ABOUT_GOODS: &str = "\
pack packs dishwasher pieces stainless steel plastic cotton wooden oak leather cable usb waterproof washable colour color size \
warranty battery adapter ceramic mug chair table shirt shoes bottle box bolt screw aluminium wireless charger portable foldable \
stück edelstahl holz baumwolle wasserdicht farbe größe akku kabel spülmaschinenfest packung leder kunststoff schraube tasse \
stuhl coton bois acier inoxydable couleur taille lot câble plastique cuir étanche algodón madera acero inoxidable tamaño \
paquete unidades cuero legno acciaio cotone pelle confezione pezzi taglia katoen hout roestvrij staal stuks kleur maat leer \
algodão madeira aço tamanho couro embalagem peças kg cm mm ml inch watt volt lumen";

/// Levels of messages in logs.
pub(super) const LOG_LEVELS: &str = "info warn warning error debug trace fatal notice severe panic";

/// Drugs that are prescribed often. Most others are found by their ending.
pub(super) const DRUGS: &str = "\
aspirin ass acetylsalicylic paracetamol acetaminophen ibuprofen diclofenac naproxen metamizol novalgin codeine morphine fentanyl \
oxycodone tramadol tilidin pregabalin gabapentin insulin metformin levothyroxine thyroxine levothyroxin digoxin warfarin \
marcumar phenprocoumon clopidogrel heparin amoxicillin doxycycline prednisone prednisolone prednisolon dexamethasone cortisone \
hydrocortisone salbutamol albuterol budesonide montelukast cetirizine loratadine furosemide torasemide torasemid \
spironolactone hydrochlorothiazide lithium haloperidol quetiapine olanzapine risperidone aripiprazole clozapine sertraline \
citalopram escitalopram fluoxetine paroxetine venlafaxine duloxetine mirtazapine bupropion methylphenidate lorazepam diazepam \
zolpidem valproate carbamazepine levetiracetam lamotrigine topiramate methotrexate tamoxifen allopurinol colchicine \
ciprofloxacin azithromycin clarithromycin cefuroxime clindamycin nitrofurantoin metronidazole fluconazole aciclovir folic \
tamsulosin finasteride sildenafil ondansetron domperidone semaglutide liraglutide empagliflozin estradiol \
levodopa donepezil memantine naloxone buprenorphine methadone baclofen omeprazole ventolin xarelto eliquis lantus ozempic \
doliprane amoxicilline paracétamol ibuprofène levotiroxina amoxicilina omeprazol metformina enalapril tachipirina";

/// Ends of the international names of drugs (WHO stems).
pub(super) const DRUG_ENDINGS: &[&str] = &[
    "pril",
    "sartan",
    "statin",
    "statine",
    "statina",
    "prazole",
    "prazol",
    "prazolo",
    "olol",
    "ololo",
    "dipine",
    "dipin",
    "cillin",
    "cilline",
    "cilina",
    "mycin",
    "mycine",
    "micina",
    "floxacin",
    "formin",
    "formina",
    "gliptin",
    "gliflozin",
    "glutide",
    "zepam",
    "zolam",
    "conazole",
    "conazol",
    "vir",
    "mab",
    "tinib",
    "tidine",
    "tidin",
    "setron",
    "triptan",
    "profen",
    "profeno",
    "caine",
    "xaban",
    "parin",
    "thiazide",
    "thiazid",
    "semide",
    "semid",
    "lukast",
    "terol",
    "solone",
    "solon",
    "sone",
    "tadine",
    "oxetine",
    "oxetin",
    "azepam",
    "cycline",
    "cyclin",
    "barbital",
    "dronate",
    "codone",
    "tiapine",
    "apine",
    "apin",
    "peridone",
    "peridon",
    "lactone",
    "lacton",
    "traline",
    "tralin",
    "faxine",
    "zosin",
    "dafil",
];

/// Forms of drugs and schedules of taking them.
pub(super) const DOSE_FORMS: &str = "\
tab tabs tablet tablets cap caps capsule capsules po bid tid qid qd daily prn injection syrup suspension drops spray inhaler \
cream ointment patch suppository tablette tabletten tbl kps kapsel kapseln tropfen ampulle täglich comprimé comprimés cp gélule \
gélules jour comprimido comprimidos cápsula cápsulas diario compresse compressa capsule gocce die tabletten capsules dagelijks \
comprimidos gotas ampola dia mite retard";

/// Units of doses.
pub(super) const DOSE_UNITS: &str = "mg mcg µg ug g iu ie ui me";

/// Words of findings of a laboratory.
pub(super) const LAB_WORDS: &str = "\
hiv hba1c hbsag hcv hbv covid sars cov pcr antibody antigen ab igg igm hemoglobin haemoglobin hämoglobin glucose creatinine \
kreatinin cholesterol ldl hdl triglycerides tsh crp leukocytes leukozyten platelets thrombozyten wbc rbc ferritin bilirubin alt ast \
ggt inr mmhg mmol dl umol µmol ng pg bpm meq reactive nonreactive syphilis chlamydia gonorrhea hepatitis psa egfr reaktiv nachweisbar";

/// Findings in one word.
pub(super) const WEAK_LAB: &str = "\
positive negative detected not non pos neg positiv negativ nachgewiesen nicht positif négatif positivo negativo positief \
negatief indeterminate equivocal inconclusive";

/// Legal forms of firms.
pub(super) const FIRMS: &str = "\
gmbh ag kg ohg ug ltd limited inc llc plc corp corporation company co llp sarl sas sa srl spa snc bv nv vof sl slu lda ltda ab \
oy as aps sp zoo kft group holding holdings gbr ev eg cie sasu eirl";

/// Words for months.
pub(super) const MONTHS: [&str; 12] = [
    "january jan januar janvier janv enero ene gennaio gen januari janeiro",
    "february feb februar février févr fev febrero febbraio februari fevereiro",
    "march mar märz mrz mars marzo maart mrt março",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag mei maio",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août agosto ago augustus",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott out outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro",
];

/// Words that names of people do not contain: places, goods, organisations, professions.
pub(super) const NOT_NAMES: &str = "\
the and of for with by und mit für et avec pour con para per met voor com north south east west united states kingdom city town county \
university school college institute department office hospital clinic bank hotel restaurant museum airport station park river lake \
mountain island church market center centre service services manager engineer director assistant analyst developer sales \
marketing finance product project team system server database table premium classic standard basic pro plus mini max ultra \
deluxe edition series set kit bag lamp desk sofa coffee tea juice water milk bread cheese wine beer phone laptop camera monitor \
keyboard mouse printer router pizza soup salad burger sauce chocolate cake stadt amt schule universität abteilung leiter \
ville école hôpital banque ciudad escuela departamento banco ufficio scuola banca gemeente afdeling escola empresa hub control \
access \
germany france spain italy netherlands belgium switzerland austria poland brazil mexico canada china japan india russia turkey sweden \
norway denmark finland greece ireland hungary romania ukraine egypt morocco australia argentina chile peru colombia deutschland \
frankreich spanien italien polen österreich schweiz niederlande allemagne espagne italie belgique suisse alemania francia italia \
países bajos suiza germania spagna francia duitsland frankrijk spanje alemanha frança espanha brasil berlin hamburg münchen köln \
frankfurt stuttgart düsseldorf leipzig dresden hannover nürnberg bremen kassel wien zürich genf bern basel salzburg marseille lyon toulouse \
nice nantes strasbourg bordeaux lille madrid barcelona sevilla valència zaragoza málaga bilbao roma milano napoli torino firenze bologna \
venezia palermo amsterdam rotterdam utrecht eindhoven brussel antwerpen gent lisboa lisbon porto coimbra braga chicago boston \
seattle houston dallas miami atlanta denver philadelphia phoenix detroit toronto montreal vancouver manchester birmingham leeds \
liverpool bristol sheffield edinburgh glasgow cardiff dublin warszawa kraków gdańsk istanbul ankara moscow tokyo \
point data network report order invoice payment account user admin test demo default home page green house black friday \
movie song album chapter part volume book story night day love world time life man woman king queen game war star last first";

/// Words for yes and no.
pub(super) const FLAGS: &str =
    "t f true false yes no y n on off ja nein j oui non si sì sí sim não nee vrai faux wahr falsch verdadero";

/// Codes of currencies (ISO 4217).
pub(super) const CURRENCIES: &str = "\
usd eur gbp jpy chf aud cad nzd sek nok dkk pln czk huf ron bgn hrk rub uah try brl mxn ars clp cop pen inr cny hkd sgd krw idr \
myr php thb vnd zar egp ils sar aed qar kwd bhd ngn kes mad tnd isk btc eth";

/// Three-character categories of ICD-10 that are frequent in practices and hospitals.
pub(super) const FREQUENT_ICD: &str = "\
a09 a41 b34 c18 c20 c25 c34 c43 c44 c50 c56 c61 c64 c67 c73 c79 c83 c90 c91 c92 d12 d50 d64 d25 e03 e04 e05 e06 e10 e11 e14 \
e66 e78 e79 e86 e87 f01 f03 f10 f11 f17 f20 f25 f31 f32 f33 f41 f43 f45 f48 f60 f84 f90 g20 g30 g35 g40 g43 g44 g47 g56 g62 \
h25 h26 h35 h40 h52 h65 h66 h90 i10 i11 i20 i21 i25 i26 i35 i42 i48 i50 i63 i64 i70 i80 i83 i84 j00 j01 j02 j03 j06 j11 j15 j18 \
j20 j30 j32 j35 j40 j42 j44 j45 j98 k02 k04 k21 k25 k29 k35 k40 k50 k51 k52 k56 k57 k58 k70 k74 k76 k80 k85 l20 l30 l40 l50 l70 m06 \
m10 m16 m17 m19 m23 m25 m35 m41 m47 m48 m51 m53 m54 m62 m65 m75 m77 m79 m80 m81 n18 n20 n30 n39 n40 n80 n81 n92 o24 o80 o82 \
r05 r06 r07 r10 r11 r31 r42 r50 r51 r52 r53 r55 s00 s06 s22 s32 s42 s52 s60 s61 s72 s82 s83 s93 t14 t78 u07 u09 z00 z01 z23 z25 z30 \
z34 z38 z51 z95 z96 b18 b20 d68 g45 i47 i49";
